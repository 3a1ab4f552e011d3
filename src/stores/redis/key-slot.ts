import { bytesOf } from '../../platform.js'

/** How many slots a Redis Cluster has. */
export const SLOTS = 16_384
/** The generator polynomial of CRC-16/XMODEM. */
const POLYNOMIAL = 0x1021

/**
 * Returns the slot of a key in a Redis Cluster: a CRC-16 of the key, or of its hash tag, the text between
 * the first `{` and the next `}`, unless that is empty.
 * https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/#key-distribution-model
 */
export function keySlot(key: string): number {
  const start = key.indexOf('{') + 1
  const end = start > 0 ? key.indexOf('}', start) : -1
  const tag = end > start ? key.slice(start, end) : key
  let crc = 0
  for (const byte of bytesOf(tag)) crc = ((crc << 8) & 0xffff) ^ (CRC_TABLE[(crc >> 8) ^ byte] ?? 0)
  return crc % SLOTS
}

/** The CRC of each byte. */
const CRC_TABLE = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8
  for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ POLYNOMIAL : crc << 1
  return crc
})
