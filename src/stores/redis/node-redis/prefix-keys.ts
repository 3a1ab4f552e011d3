import type { Command } from '../transport.js'

/**
 * Returns a function that returns a command's words, its keys with the client's prefix: node-redis 6 adds it
 * only to commands that it knows by name.
 */
export function prefixKeys(keyPrefix: string | Buffer = ''): (command: Command) => string[] {
  const prefix = String(keyPrefix)
  return ({ words, firstKey, keyCount }) => {
    const all: string[] = [...words]
    if (prefix) for (let i = firstKey; i < firstKey + keyCount; i++) all[i] = prefix + all[i]
    return all
  }
}
