/* Tries, as whoever runs it, what would lead out of a container. Prints one line for each attempt:
 * its name, `refused` or `done`, and the error or what was found, parted by tabs. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <linux/capability.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/timex.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

enum { DESCRIPTORS = 32 };
#define SUPERVISOR 65533    /* the user of PID 1 and of what it starts for each command */
#define DOOR "@sandbox/sudo" /* where `sudo` asks PID 1 */

static char found[512];
static int count;

static void tell(const char *name, int done, const char *format, ...) {
    va_list list;
    va_start(list, format);
    printf("%s\t%s\t", name, done ? "done" : "refused");
    vprintf(format, list);
    printf("\n");
    fflush(stdout);
    va_end(list);
}

/* A call that gives -1 where it is refused. */
static void attempt(const char *name, long result) {
    tell(name, result != -1, "%s", result == -1 ? strerror(errno) : "it worked");
}

/* The kernel's memory, which engines hide behind /dev/null where the kernel shows it. */
static void kernel_memory(void) {
    struct stat found;
    int file = open("/proc/kcore", O_RDONLY);
    bool hidden = file >= 0 && fstat(file, &found) == 0 && found.st_rdev == makedev(1, 3);
    if (hidden) tell("read /proc/kcore", 0, "%s", "it is /dev/null");
    else attempt("read /proc/kcore", file);
}

/* Something that must not be found. */
static void absent(const char *name, const char *what) {
    tell(name, what && *what, "%s", what && *what ? what : "none");
}

static void note(const char *path) {
    if (count++ < 5 && strlen(found) + strlen(path) + 2 < sizeof found) {
        strcat(found, *found ? " " : "");
        strcat(found, path);
    }
}

static void forget(void) { *found = 0; count = 0; }

static int visit_writable(const char *path, const struct stat *about, int kind, struct FTW *at) {
    (void)at;
    if (kind != FTW_F || !S_ISREG(about->st_mode)) return 0;
    int file = open(path, O_WRONLY | O_NONBLOCK | O_NOFOLLOW);
    if (file >= 0) { note(path); close(file); }
    return 0;
}

static int visit_raising(const char *path, const struct stat *about, int kind, struct FTW *at) {
    char value[64];
    (void)at;
    if (kind != FTW_F || !S_ISREG(about->st_mode)) return 0;
    if (about->st_mode & (S_ISUID | S_ISGID)) note(path);
    else if (about->st_mode & 0111 && getxattr(path, "security.capability", value, 64) > 0) note(path);
    return 0;
}

static int visit_device(const char *path, const struct stat *about, int kind, struct FTW *at) {
    static const char *harmless[] = {"null", "zero", "full", "random", "urandom", "tty", "ptmx"};
    (void)kind;
    if (S_ISBLK(about->st_mode)) { note(path); return 0; }
    if (!S_ISCHR(about->st_mode)) return 0;
    for (unsigned i = 0; i < sizeof harmless / sizeof *harmless; i++)
        if (!strcmp(path + at->base, harmless[i])) return 0;
    note(path);
    return 0;
}

typedef int visitor(const char *, const struct stat *, int, struct FTW *);

static void walk(const char *name, const char *top, visitor *visit) {
    forget();
    nftw(top, visit, 32, FTW_PHYS | (visit == visit_raising ? FTW_MOUNT : 0));
    absent(name, found);
}

static void identity(void) {
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct data[2] = {{0}};
    syscall(SYS_capget, &header, data);
    tell("capabilities", data[0].effective || data[0].permitted || data[0].inheritable
         || data[1].effective || data[1].permitted, "effective %08x permitted %08x",
         data[0].effective, data[0].permitted);
    tell("new privileges", prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1, "no_new_privs");
    attempt("setuid to root", setuid(0));
    attempt("setgid to root", setgid(0));
    gid_t groups[] = {0};
    attempt("root's groups", syscall(SYS_setgroups, 1, groups));
    walk("files that raise rights", "/", visit_raising);
    struct rlimit core = {RLIM_INFINITY, RLIM_INFINITY};
    attempt("core files", setrlimit(RLIMIT_CORE, &core));
    forget();
    for (int i = 3; i < DESCRIPTORS; i++) {
        char path[64], target[200] = {0};
        snprintf(path, sizeof path, "/proc/self/fd/%d", i);
        if (fcntl(i, F_GETFD) >= 0 && readlink(path, target, 199) > 0) note(target);
    }
    absent("inherited descriptors", found);
    int score = open("/proc/self/oom_score_adj", O_WRONLY);
    attempt("shelter from lack of memory", score < 0 ? -1 : write(score, "-1000", 5));
}

static void devices(void) {
    attempt("make a memory device", mknod("/tmp/probe-mem", S_IFCHR | 0666, makedev(1, 1)));
    attempt("make a block device", mknod("/tmp/probe-disk", S_IFBLK | 0666, makedev(8, 0)));
    walk("devices", "/dev", visit_device);
    static const char *paths[] = {"/dev/mem", "/dev/kmem", "/dev/kmsg", "/dev/port", "/dev/fuse",
                                  "/dev/kvm", "/dev/net/tun", "/dev/vhost-net", "/dev/loop-control"};
    for (unsigned i = 0; i < sizeof paths / sizeof *paths; i++) {
        char name[64];
        snprintf(name, sizeof name, "open %s", paths[i]);
        attempt(name, open(paths[i], O_RDWR));
    }
}

static void kernel_files(void) {
    walk("write to /proc/sys", "/proc/sys", visit_writable);
    walk("write to /sys", "/sys", visit_writable);
    static const char *written[] = {"/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe",
        "/proc/sysrq-trigger", "/proc/sys/fs/binfmt_misc/register", "/sys/kernel/uevent_helper",
        "/sys/fs/cgroup/cgroup.procs", "/sys/fs/cgroup/memory/release_agent", "/proc/1/oom_score_adj"};
    for (unsigned i = 0; i < sizeof written / sizeof *written; i++) {
        char name[96];
        snprintf(name, sizeof name, "write to %s", written[i]);
        attempt(name, open(written[i], O_WRONLY));
    }
    kernel_memory();
    static const char *readable[] = {"/proc/1/environ", "/proc/1/mem", "/proc/1/maps",
        "/proc/1/root/etc", "/proc/1/cwd/etc", "/proc/1/fd/0", "/sys/kernel/debug/tracing",
        "/sys/firmware/dmi"};
    for (unsigned i = 0; i < sizeof readable / sizeof *readable; i++) {
        char name[96];
        snprintf(name, sizeof name, "read %s", readable[i]);
        attempt(name, open(readable[i], O_RDONLY));
    }
    forget();
    FILE *symbols = fopen("/proc/kallsyms", "r");
    unsigned long address = 0;
    if (symbols && fscanf(symbols, "%lx", &address) == 1 && address) note("an address");
    absent("addresses of the kernel", found);
    char log[64];
    attempt("read the kernel's log", syscall(SYS_syslog, 3, log, sizeof log));
}

static void name_spaces(void) {
    attempt("mount a file system", mount("none", "/tmp", "tmpfs", 0, 0));
    attempt("mount /proc anew", mount("proc", "/tmp", "proc", 0, 0));
    attempt("bind the root", mount("/", "/tmp", 0, MS_BIND, 0));
    attempt("make /sys writable", mount(0, "/sys", 0, MS_REMOUNT | MS_BIND, 0));
    attempt("unmount /proc/sys", umount2("/proc/sys", MNT_DETACH));
    attempt("pivot_root", syscall(SYS_pivot_root, "/", "/tmp"));
    attempt("chroot", chroot("/tmp"));
    attempt("open_tree", syscall(428, AT_FDCWD, "/", 1));
    attempt("fsopen", syscall(430, "tmpfs", 0));
    attempt("a user name space", unshare(CLONE_NEWUSER));
    attempt("a mount name space", unshare(CLONE_NEWNS));
    attempt("a network name space", unshare(CLONE_NEWNET));
    attempt("a process name space", unshare(CLONE_NEWPID));
    unsigned long long arguments[11] = {CLONE_NEWUSER};
    arguments[4] = SIGCHLD;
    long child = syscall(435, arguments, sizeof arguments);
    if (child == 0) _exit(0);
    attempt("clone3 into a user name space", child);
    int other = open("/proc/1/ns/mnt", O_RDONLY);
    attempt("enter the supervisor's name space", other < 0 ? -1 : setns(other, 0));
    unsigned handle[34] = {128, 1};
    attempt("open_by_handle_at", syscall(SYS_open_by_handle_at, AT_FDCWD, handle, O_RDONLY));
}

static void calls(void) {
    char zeros[256] = {0};
    struct timespec now = {1, 0};
    attempt("bpf", syscall(SYS_bpf, 0, zeros, 72));
    struct { unsigned type, size; char rest[120]; } event = {1, 128, {0}};
    attempt("perf_event_open", syscall(SYS_perf_event_open, &event, 0, -1, -1, 0));
    attempt("userfaultfd", syscall(SYS_userfaultfd, O_CLOEXEC));
    attempt("io_uring_setup", syscall(425, 1, zeros));
    attempt("fanotify_init", syscall(SYS_fanotify_init, 0x10 | 4, O_RDONLY));
    attempt("add_key", syscall(SYS_add_key, "user", "probe", "x", 1, -2));
    attempt("request_key", syscall(SYS_request_key, "user", "probe", 0, -2));
    attempt("keyctl", syscall(SYS_keyctl, 0, -3, 1));
    attempt("kexec_load", syscall(SYS_kexec_load, 0, 0, 0, 0));
    attempt("init_module", syscall(SYS_init_module, zeros, 1, ""));
    attempt("finit_module", syscall(SYS_finit_module, 0, "", 0));
    attempt("delete_module", syscall(SYS_delete_module, "probe", 0));
    attempt("reboot", syscall(SYS_reboot, 0xfee1dead, 672274793, 0, 0));
    attempt("swapon", syscall(SYS_swapon, "/tmp/probe", 0));
    attempt("acct", syscall(SYS_acct, "/tmp/probe"));
    attempt("quotactl", syscall(SYS_quotactl, 0x800002, "/dev/sda", 0, zeros));
    attempt("set the clock", clock_settime(CLOCK_REALTIME, &now));
    struct timex tuned = {.modes = ADJ_FREQUENCY};
    attempt("tune the clock", adjtimex(&tuned));
    attempt("set the host's name", sethostname("probe", 5));
    attempt("personality without random addresses", syscall(SYS_personality, 0x0400000 | 0x0100000));
#ifdef SYS_iopl
    attempt("iopl", syscall(SYS_iopl, 3));
    attempt("ioperm", syscall(SYS_ioperm, 0x80, 1, 1));
#endif
}

static void processes(void) {
    char byte;
    struct iovec here = {&byte, 1}, there = {(void *)0x400000, 1};
    attempt("trace the supervisor", ptrace(PTRACE_ATTACH, 1, 0, 0));
    attempt("read the supervisor's memory", syscall(SYS_process_vm_readv, 1, &here, 1, &there, 1, 0));
    attempt("kill the supervisor", kill(1, SIGKILL));
    attempt("stop the supervisor", kill(1, SIGSTOP));
    struct rlimit little = {1, 1};
    attempt("limit the supervisor", prlimit(1, RLIMIT_NOFILE, &little, 0));
    int process = syscall(434, 1, 0);
    attempt("take the supervisor's descriptor", process < 0 ? -1 : syscall(438, process, 0, 0));
    attempt("write to the supervisor's file", open("/.sandbox/supervisor", O_WRONLY));
    attempt("write to /proc/1/exe", open("/proc/1/exe", O_WRONLY));
    attempt("remove the supervisor's file", unlink("/.sandbox/supervisor"));
    attempt("make a file beside the supervisor", open("/.sandbox/probe", O_CREAT | O_WRONLY, 0600));
    forget();
    DIR *all = opendir("/proc");
    for (struct dirent *each; all && (each = readdir(all));) {
        char path[300];
        struct stat about;
        snprintf(path, sizeof path, "/proc/%s", each->d_name);
        int number = atoi(each->d_name);
        if (number <= 1 || stat(path, &about) || about.st_uid == SUPERVISOR) continue;
        if (about.st_uid != getuid() && about.st_uid != 0) note(path);
    }
    absent("processes of other runs", found);
}

static long speak(int domain, int kind, const void *address, socklen_t size) {
    int end = socket(domain, kind, 0);
    if (end < 0) return -1;
    struct timeval soon = {1, 0};
    setsockopt(end, SOL_SOCKET, SO_SNDTIMEO, &soon, sizeof soon);
    long result = connect(end, address, size);
    close(end);
    return result;
}

static void unix_socket(const char *path) {
    char name[128];
    struct sockaddr_un address = {AF_UNIX, {0}};
    snprintf(name, sizeof name, "speak to %s", path);
    strncpy(address.sun_path, path, sizeof address.sun_path - 1);
    attempt(name, speak(AF_UNIX, SOCK_STREAM, &address, sizeof address));
}

static void network(void) {
    static const char *sockets[] = {"/var/run/docker.sock", "/run/docker.sock",
        "/run/containerd/containerd.sock", "/run/podman/podman.sock", "/.sandbox/control/socket"};
    for (unsigned i = 0; i < sizeof sockets / sizeof *sockets; i++) unix_socket(sockets[i]);
    forget();
    FILE *table = fopen("/proc/net/unix", "r");
    char line[512];
    while (table && fgets(line, sizeof line, table)) {
        char *at = strchr(line, '@');
        line[strcspn(line, "\n")] = 0;
        if (at && strcmp(at, DOOR)) note(at);
    }
    absent("abstract sockets", found);
    struct sockaddr_in address = {AF_INET, htons(53), {htonl(0x01010101)}, {0}};
    attempt("the internet", speak(AF_INET, SOCK_STREAM, &address, sizeof address));
    attempt("the internet by UDP", speak(AF_INET, SOCK_DGRAM, &address, sizeof address));
    address.sin_addr.s_addr = htonl(0xac110001);
    attempt("the engine's bridge", speak(AF_INET, SOCK_STREAM, &address, sizeof address));
    address.sin_addr.s_addr = htonl(0xa9fea9fe);
    attempt("the metadata service", speak(AF_INET, SOCK_STREAM, &address, sizeof address));
    attempt("a raw socket", socket(AF_INET, SOCK_RAW, IPPROTO_ICMP));
    attempt("a packet socket", socket(AF_PACKET, SOCK_RAW, 0));
    attempt("the host of a virtual machine", socket(40 /* AF_VSOCK */, SOCK_STREAM, 0));
    attempt("the kernel's ciphers", socket(38 /* AF_ALG */, SOCK_SEQPACKET, 0));
    forget();
    struct if_nameindex *cards = if_nameindex();
    for (struct if_nameindex *each = cards; each && each->if_index; each++)
        if (strcmp(each->if_name, "lo") && each->if_name[0] != 't' && each->if_name[0] != 's') note(each->if_name);
    absent("network cards", found);
}

static const struct {
    const char *name;
    void (*run)(void);
} parts[] = {
    {"identity", identity},   {"devices", devices}, {"kernel_files", kernel_files},
    {"name_spaces", name_spaces}, {"calls", calls}, {"processes", processes},
    {"network", network},
};

/* With a name only that part is tried. */
int main(int count_of_arguments, char **arguments) {
    for (unsigned i = 0; i < sizeof parts / sizeof *parts; i++)
        if (count_of_arguments < 2 || !strcmp(arguments[1], parts[i].name)) parts[i].run();
    return 0;
}
