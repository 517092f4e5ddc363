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

static bool read_capabilities(struct capabilities *found) {
    memset(found, 0, sizeof *found);
    found->header.version = _LINUX_CAPABILITY_VERSION_3;
    /* The library that wraps it is not linked: capget(2). */
    return syscall(SYS_capget, &found->header, found->data) == 0;
}

/* Makes use of all that is permitted, as far as the mask goes. */
static bool keep_capabilities(uint64_t mask) {
    struct capabilities set;
    if (!read_capabilities(&set)) return false;
    for (int half = 0; half < 2; half++) {
        set.data[half].permitted &= (uint32_t)(mask >> (32 * half));
        set.data[half].effective = set.data[half].permitted;
        set.data[half].inheritable = 0;
    }
    return syscall(SYS_capset, &set.header, set.data) == 0;
}

bool user_prepare(void) {
    own = (struct user){geteuid(), getegid()};
    proven = own;
    if (own.uid) return true;
    if (setgroups(0, NULL) && errno != EPERM) return false;
    /* Else leaving uid 0 clears the permitted set: capabilities(7), "Effect of user ID changes". */
    if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0)) return false;
    /* Without CAP_SETUID we stay who we are. */
    if (setresuid(USER_PRIVATE, USER_PRIVATE, USER_PRIVATE)) return errno == EPERM;
    prctl(PR_SET_KEEPCAPS, 0, 0, 0, 0);
    if (!keep_capabilities(USER_ALL)) return false;
    setfsuid(0);
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
    /* The kernel then judges by this user what is opened, and nobody may signal us as him:
       setfsuid(2). */
    setfsgid(user.gid);
    setfsuid(user.uid);
    if (user.uid == proven.uid && user.gid == proven.gid) return true;
    proven = user;
    /* Both report the old value only; asking again with an invalid id tells the present one. */
    if ((uint32_t)setfsuid((uid_t)-1) == user.uid && (uint32_t)setfsgid((gid_t)-1) == user.gid)
        return true;
    proven = own;
    user_leave();
    errno = EPERM;
    return false;
}

void user_leave(void) {
    if (!switched) return;
    setfsuid(own.uid);
    setfsgid(own.gid);
    switched = false;
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
