/* Parts of seccomp filters. */
#ifndef FILTER_H
#define FILTER_H

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define X32 0x40000000

#ifdef __x86_64__
#define ARCHITECTURE AUDIT_ARCH_X86_64
#else
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#define REFUSE(number) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (number))
#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define IF_EQUAL(value, otherwise) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, otherwise)
/* Refuses a call one of whose arguments is this one, as far as the mask goes. */
#define REFUSE_CALL(call, index, mask, value)                                                     \
    IF_EQUAL(call, 5), LOAD(args[index]), BPF_STMT(BPF_ALU | BPF_AND | BPF_K, mask),              \
        IF_EQUAL(value, 1), REFUSE(EPERM), LOAD(nr)

#define FILTER_NATIVE 5

/* Another architecture has other numbers and is refused whole: int 0x80, x32. Leaves the number
   of the call loaded; how long it is. */
static inline size_t filter_start(struct sock_filter *filter) {
    static const struct sock_filter native[FILTER_NATIVE] = {
        LOAD(arch),
        IF_EQUAL(ARCHITECTURE, 2),
        LOAD(nr),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, X32, 0, 1),
        REFUSE(ENOSYS),
    };
    memcpy(filter, native, sizeof native);
    return FILTER_NATIVE;
}

/* Without a program the kernel checks the flags and then misses the program. */
static inline bool filter_flags_work(unsigned long flags) {
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, NULL) < 0 && errno == EFAULT;
}

static inline bool filter_works(void) {
    return filter_flags_work(0);
}

#endif
