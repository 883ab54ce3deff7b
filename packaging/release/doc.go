// Command release builds what users download: the programs for all systems in archives
// with man pages and completions, Debian packages, a container image, the software bill
// of materials, and the checksums of all of them. Two builds of one commit give the
// same bytes.
//
// It is in a module of its own, because the libraries for images and manifests need
// many modules.
package main
