package hwclock

import (
	"bytes"
	"encoding/binary"
)

// Places in an ELF file of 64 bits, in little-endian order. Package debug/elf knows all
// of the format, but it makes every program larger by some hundred kilobytes.
const (
	elfMagic = "\x7fELF\x02\x01"

	headerBytes                    = 64
	programsAt, sectionsAt         = 0x20, 0x28
	programSizeAt, programCountAt  = 0x36, 0x38
	sectionSizeAt, sectionCountAt  = 0x3a, 0x3c
	programBytes, loadable         = 56, 1
	programOffsetAt, programAddrAt = 0x08, 0x10

	sectionBytes, dynamicSymbols                   = 64, 11
	sectionTypeAt, sectionOffsetAt, sectionLenAt   = 0x04, 0x18, 0x20
	sectionLinkAt, symbolBytes, symbolFunction     = 0x28, 24, 2
	symbolNameAt, symbolKindAt, symbolValueAt, low = 0, 4, 8, 0xf
)

// image is an ELF file in memory. Reading beyond its end gives zeros.
type image []byte

// at returns bytes of the image, or nil if they are not all there.
func (m image) at(offset, length uint64) image {
	if offset > uint64(len(m)) || length > uint64(len(m))-offset {
		return nil
	}
	return m[offset : offset+length]
}

func (m image) word(offset uint64) uint64 {
	if b := m.at(offset, 8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

func (m image) half(offset uint64) uint64 {
	if b := m.at(offset, 4); b != nil {
		return uint64(binary.LittleEndian.Uint32(b))
	}
	return 0
}

func (m image) short(offset uint64) uint64 {
	if b := m.at(offset, 2); b != nil {
		return uint64(binary.LittleEndian.Uint16(b))
	}
	return 0
}

// function returns the offset in the image of a function that is a dynamic symbol.
func (m image) function(name string) (offset uint64, found bool) {
	value, found := m.symbol(name)
	if !found {
		return 0, false
	}
	for i := range m.short(programCountAt) {
		p := m.at(m.word(programsAt)+i*m.short(programSizeAt), programBytes)
		if p.half(0) == loadable {
			return p.word(programOffsetAt) + value - p.word(programAddrAt), true
		}
	}
	return 0, false
}

// symbol returns the value of a function's dynamic symbol.
func (m image) symbol(name string) (value uint64, found bool) {
	section := func(i uint64) image {
		return m.at(m.word(sectionsAt)+i*m.short(sectionSizeAt), sectionBytes)
	}
	for i := range m.short(sectionCountAt) {
		s := section(i)
		if s.half(sectionTypeAt) != dynamicSymbols {
			continue
		}
		names := section(s.half(sectionLinkAt))
		texts := m.at(names.word(sectionOffsetAt), names.word(sectionLenAt))
		symbols := m.at(s.word(sectionOffsetAt), s.word(sectionLenAt))
		for ; len(symbols) >= symbolBytes; symbols = symbols[symbolBytes:] {
			text := texts.at(symbols.half(symbolNameAt), uint64(len(name)+1))
			if text != nil && bytes.Equal(text, append([]byte(name), 0)) && symbols[symbolKindAt]&low == symbolFunction {
				return symbols.word(symbolValueAt), true
			}
		}
	}
	return 0, false
}
