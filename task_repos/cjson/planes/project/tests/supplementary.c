/* CJS-91: characters beyond the basic plane, written as pairs of escapes. */
#include "unity.h"
#include "common.h"

static void assert_reads(const char *json, const char *expected)
{
    cJSON *item = cJSON_Parse(json);
    TEST_ASSERT_NOT_NULL_MESSAGE(item, "The text was refused.");
    TEST_ASSERT_EQUAL_STRING(expected, cJSON_GetStringValue(item));
    cJSON_Delete(item);
}

static void emoji_are_read(void)
{
    assert_reads("\"\\ud83d\\ude00\"", "\xF0\x9F\x98\x80"); /* U+1F600 */
}

static void rare_ideographs_are_read(void)
{
    assert_reads("\"\\ud841\\udf0e\"", "\xF0\xA0\x9C\x8E"); /* U+2070E */
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(emoji_are_read);
    RUN_TEST(rare_ideographs_are_read);
    return UNITY_END();
}
