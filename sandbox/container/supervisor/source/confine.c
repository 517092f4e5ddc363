/* What no command may call, whatever the engine's own filter lets through. */
#include "confine.h"

#include <errno.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "filter.h"

#define NEW_SPACES                                                                                \
    (CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS |    \
     CLONE_NEWCGROUP)
#define FIRST_OF_URING 425 /* io_uring_setup, _enter, _register: the same on all architectures */
#define OPEN_TREE 428
#define FIRST_OF_MOUNT 429 /* move_mount, fsopen, fsconfig, fsmount, fspick */
#define LAST_OF_MOUNT 433
#define FORBID(call) IF_EQUAL(call, 1), REFUSE(EPERM)
#define ALLOW_FAMILY(family) IF_EQUAL(family, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static bool works;

/* Engines differ in what they let through: Docker 20.10 io_uring and sockets to the host of a
   virtual machine (vsock), which no network name space parts; others name spaces. */
static const struct sock_filter own[] = {
    BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, FIRST_OF_URING, 0, 2),
    BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, OPEN_TREE, 1, 0),
    REFUSE(ENOSYS),
    BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, OPEN_TREE, 0, 2),
    BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, LAST_OF_MOUNT, 1, 0),
    REFUSE(EPERM),
    IF_EQUAL(SYS_clone3, 1), /* its flags cannot be seen; the C library takes clone instead */
    REFUSE(ENOSYS),
    /* What Docker's own profile withholds from a container without CAP_SYS_ADMIN, where an
       engine has another one or none: moby/profiles, seccomp/default.json. */
    FORBID(SYS_bpf),
    FORBID(SYS_perf_event_open),
    FORBID(SYS_userfaultfd),
    FORBID(SYS_add_key),
    FORBID(SYS_request_key),
    FORBID(SYS_keyctl),
    FORBID(SYS_open_by_handle_at),
    FORBID(SYS_unshare),
    FORBID(SYS_setns),
    FORBID(SYS_mount),
    FORBID(SYS_umount2),
    FORBID(SYS_pivot_root),
    FORBID(SYS_chroot),
    /* gVisor lets anybody make devices, of which it has none behind them. */
    REFUSE_CALL(SYS_mknodat, 2, S_IFMT, S_IFCHR),
    REFUSE_CALL(SYS_mknodat, 2, S_IFMT, S_IFBLK),
#ifdef SYS_mknod
    REFUSE_CALL(SYS_mknod, 1, S_IFMT, S_IFCHR),
    REFUSE_CALL(SYS_mknod, 1, S_IFMT, S_IFBLK),
#endif
    IF_EQUAL(SYS_clone, 4),
    LOAD(args[0]),
    BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, NEW_SPACES, 0, 1),
    REFUSE(EPERM),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    IF_EQUAL(SYS_socket, 10),
    LOAD(args[0]),
    ALLOW_FAMILY(AF_UNIX),
    ALLOW_FAMILY(AF_INET),
    ALLOW_FAMILY(AF_INET6),
    ALLOW_FAMILY(AF_NETLINK),
    REFUSE(EAFNOSUPPORT),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};

bool confine_works(void) {
    return works;
}

/* gVisor has devices for everybody that other engines give to nobody. */
static void take_devices_away(void) {
    if (getpid() != 1) return;
    unlink("/dev/fuse");
    unlink("/dev/net/tun");
}

bool confine(void) {
    take_devices_away();
    struct sock_filter filter[FILTER_NATIVE + sizeof own / sizeof *own];
    size_t length = filter_start(filter);
    memcpy(filter + length, own, sizeof own);
    struct sock_fprog program = {(unsigned short)(sizeof filter / sizeof *filter), filter};
    /* A filter is kept over fork and exec, and needs no_new_privs: seccomp(2). */
    works = filter_works();
    return !works || (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
                      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0);
}
