/* Users: whom the supervisor acts as, and what it is itself. */
#include "user.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

struct capabilities {
    struct __user_cap_header_struct header;
    struct __user_cap_data_struct data[2]; /* the lower and the upper 32 */
};

static struct user own;
static struct user proven; /* whom we have become before: what that needs we do not lose */
static bool switched;
static bool apart; /* whether the kernel keeps a user for files alone: setfsuid(2); gVisor does not */

static bool read_capabilities(struct capabilities *found) {
    memset(found, 0, sizeof *found);
    found->header.version = _LINUX_CAPABILITY_VERSION_3;
    /* The library that wraps it is not linked: capget(2). */
    return syscall(SYS_capget, &found->header, found->data) == 0;
}

static bool set_capabilities(uint64_t permitted, uint64_t effective) {
    struct capabilities set;
    if (!read_capabilities(&set)) return false;
    for (int half = 0; half < 2; half++) {
        set.data[half].permitted &= (uint32_t)(permitted >> (32 * half));
        set.data[half].effective = set.data[half].permitted & (uint32_t)(effective >> (32 * half));
        set.data[half].inheritable = 0;
    }
    return syscall(SYS_capset, &set.header, set.data) == 0;
}

/* Makes use of all that is permitted, as far as the mask goes. */
static bool keep_capabilities(uint64_t mask) {
    return set_capabilities(mask, mask);
}

/* Whom the kernel takes us for where it checks the rights to a file. Without a user for files that
   is the effective one; nobody may signal or trace us for that: it is the real and the saved one
   that count there, kill(2) and ptrace(2). */
static void use_files_as(struct user user) {
    if (apart) {
        setfsgid(user.gid);
        setfsuid(user.uid);
        return;
    }
    /* Who leaves 0 makes use of no capability any more, and who comes back of all that are
       permitted: capabilities(7), "Effect of user ID changes". */
    keep_capabilities(USER_ALL);
    syscall(SYS_setresgid, -1, user.gid, -1);
    syscall(SYS_setresuid, -1, user.uid, -1);
    /* gVisor shows a process to its real user alone, and to whom the engine has given this. */
    if (user.uid) set_capabilities(USER_ALL, (uint64_t)1 << CAP_SYS_PTRACE);
}

/* Both calls report the old value only; asking again with an invalid id tells the present one. */
static bool uses_files_as(struct user user) {
    if (!apart) return geteuid() == user.uid && getegid() == user.gid;
    return (uint32_t)setfsuid((uid_t)-1) == user.uid && (uint32_t)setfsgid((gid_t)-1) == user.gid;
}

bool user_prepare(bool plain) {
    apart = !plain && syscall(SYS_setfsuid, (uid_t)-1) >= 0;
    own = (struct user){geteuid(), getegid()};
    proven = own;
    if (own.uid) return true;
    if (setgroups(0, NULL) && errno != EPERM) return false;
    /* Else leaving uid 0 clears the permitted set: capabilities(7), "Effect of user ID changes". */
    if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0)) return false;
    /* Without CAP_SETUID we stay who we are. */
    if (setresuid(USER_PRIVATE, USER_PRIVATE, USER_PRIVATE)) return errno == EPERM;
    if (apart) prctl(PR_SET_KEEPCAPS, 0, 0, 0, 0);
    if (!keep_capabilities(USER_ALL)) return false;
    use_files_as(own);
    return true;
}

bool user_is_root(void) {
    return own.uid == 0;
}

struct user user_own(void) {
    return own;
}

bool user_become(struct user user) {
    if (user.uid == own.uid && user.gid == own.gid) return true;
    if (!user_is_root()) {
        errno = EPERM;
        return false;
    }
    switched = true;
    use_files_as(user);
    if (user.uid == proven.uid && user.gid == proven.gid) return true;
    proven = user;
    if (uses_files_as(user)) return true;
    proven = own;
    user_leave();
    errno = EPERM;
    return false;
}

void user_leave(void) {
    if (!switched) return;
    use_files_as(own);
    switched = false;
}

bool user_unite(void) {
    if (apart || !user_is_root()) return true;
    return syscall(SYS_setresuid, -1, USER_PRIVATE, -1) == 0 && keep_capabilities(USER_ALL);
}

bool user_turn(struct user user, uint64_t kept) {
    if (!user_is_root()) return true;
    /* The system calls, not the library's functions: those change all threads by signals, which
       a child that shares our memory must not send (vfork(2)). */
    if (syscall(SYS_setgroups, 0, NULL) && errno != EPERM) return false;
    if (syscall(SYS_setresgid, user.gid, user.gid, user.gid)) return false;
    if (syscall(SYS_setresuid, user.uid, user.uid, user.uid)) return false;
    return keep_capabilities(user.uid ? 0 : kept);
}
