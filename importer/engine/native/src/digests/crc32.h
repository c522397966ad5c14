/*
 * The CRC-32 of IEEE 802.3, as zlib and the servers' CRC32() compute it.
 */
#pragma once
#include "../bytes.h"

/*
 * The CRC-32 of bytes that follow others with the CRC-32 `before`; 0 if there are none before. Seven bytes must be
 * readable behind them.
 */
uint32_t crc32_of(uint32_t before, const byte *at, size_t length);
