#include "textflag.h"

// func callClockGettime(fn uintptr, id int32, ts *unix.Timespec) int32
//
// C code must find enough stack and a pointer to it that is aligned to 16
// bytes. The frame, which Go's prologue makes sure of, leaves 5 kB: the vDSO
// needs some hundred bytes, but kernels built with stack probes touch a page
// below that. BX survives a C call, so the stack pointer is kept there.
TEXT ·callClockGettime(SB), 0, $5120-28
	MOVQ fn+0(FP), AX
	MOVL id+8(FP), DI
	MOVQ ts+16(FP), SI
	MOVQ SP, BX
	ADDQ $5112, SP
	ANDQ $~15, SP
	CALL AX
	MOVQ BX, SP
	MOVL AX, ret+24(FP)
	RET

// func callThree(fn uintptr, ts *[3]unix.Timespec) int32
//
// Three calls in the frame of one. R12 and R13 survive a C call too.
TEXT ·callThree(SB), 0, $5120-20
	MOVQ fn+0(FP), R12
	MOVQ ts+8(FP), R13
	MOVQ SP, BX
	ADDQ $5112, SP
	ANDQ $~15, SP
	MOVL $4, DI // CLOCK_MONOTONIC_RAW
	MOVQ R13, SI
	CALL R12
	TESTL AX, AX
	JNE done
	MOVL $1, DI // CLOCK_MONOTONIC
	LEAQ 16(R13), SI
	CALL R12
	TESTL AX, AX
	JNE done
	MOVL $7, DI // CLOCK_BOOTTIME
	LEAQ 32(R13), SI
	CALL R12
done:
	MOVQ BX, SP
	MOVL AX, ret+16(FP)
	RET
