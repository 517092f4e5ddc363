/* Reads a JSON text of escapes and prints its bytes, or `refused`.
 * After `points` each argument is a code point, after `units` a code unit in hexadecimal. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cJSON.h"

int main(int count, char **arguments)
{
    char text[512] = "\"";
    size_t used = 1;
    const char *value = NULL;
    cJSON *item = NULL;
    int place = 0;

    for (place = 2; (place < count) && (place < 32); place++)
    {
        if (strcmp(arguments[1], "units") == 0)
        {
            used += (size_t)sprintf(text + used, "\\u%04lx", strtoul(arguments[place], NULL, 16));
            continue;
        }
        unsigned long point = strtoul(arguments[place], NULL, 10);
        if (point < 0x10000)
        {
            used += (size_t)sprintf(text + used, "\\u%04lx", point);
            continue;
        }
        point -= 0x10000;
        used += (size_t)sprintf(text + used, "\\u%04lX\\u%04lx", 0xD800 + (point >> 10), 0xDC00 + (point & 0x3FF));
    }
    strcat(text, "\"");
    item = cJSON_Parse(text);
    value = cJSON_GetStringValue(item);
    if (value == NULL)
    {
        puts("refused");
        return 0;
    }
    while (*value != '\0')
    {
        printf("%02x", (unsigned char)*value++);
    }
    puts("");
    cJSON_Delete(item);
    return 0;
}
