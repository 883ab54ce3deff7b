package demo

import (
	// Releases are built without most of tcell's descriptions of terminals (tcell_minimal),
	// which are a part of the program that few ever use: tcell asks infocmp for others. These
	// are common.
	_ "github.com/gdamore/tcell/v2/terminfo/a/alacritty"
	_ "github.com/gdamore/tcell/v2/terminfo/f/foot"
	_ "github.com/gdamore/tcell/v2/terminfo/l/linux"
	_ "github.com/gdamore/tcell/v2/terminfo/r/rxvt"
	_ "github.com/gdamore/tcell/v2/terminfo/s/screen"
	_ "github.com/gdamore/tcell/v2/terminfo/x/xterm_ghostty"
	_ "github.com/gdamore/tcell/v2/terminfo/x/xterm_kitty"
)
