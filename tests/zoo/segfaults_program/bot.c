/* Answers `hello` and `newgame`, then writes where nothing is. */
#include <stdio.h>

/* EXPECTED = {"process": "crash", "sandbox": "crash"} */

int main(void)
{
    static char line[1 << 24];
    for (int told = 0; fgets(line, sizeof line, stdin) != NULL && told < 2; told++) {
        puts("{\"type\":\"ready\"}");
        fflush(stdout);
    }
    *(volatile int *)0 = 1;
    return 0;
}
