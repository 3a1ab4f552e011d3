import { type BigIntStats, readFileSync, statSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import type { SettingsDocument } from '../../limiter/settings-document.js'
import { type DocumentSource, FOLLOW, type SettingsSource } from '../../limiter/settings-source.js'
import { messageOf } from '../../stores/store-error.js'
import { inBackground } from '../../util/background-timer.js'
import { atOnce, inSlices } from '../../util/slices.js'
import { showKind } from '../../util/validate.js'
import { DocumentFeed, type Follower } from '../feed.js'
import { followDocument } from '../follow-document.js'
import { documentSteps } from '../read-document.js'
import { parseJson } from '../stored-settings.js'

/**
 * How often the file is checked. `fs.watch` misses the replacement of a symbolic link, as in a ConfigMap.
 */
const INTERVAL_MS = 1000
/** How texts in UTF-16 begin: with a byte-order mark, or with `{` in two bytes. */
const BEGINNINGS: readonly (readonly [bytes: readonly number[], encoding: string])[] = [
  [[0xff, 0xfe], 'utf-16le'],
  [[0xfe, 0xff], 'utf-16be'],
  [[0x7b, 0x00], 'utf-16le'],
  [[0x00, 0x7b], 'utf-16be'],
]
/** What a crash, or a program that writes blocks, may leave at the end of a file. */
const TRAILING_NULS = /\0+$/

/** Read-only settings in a file. */
export interface FileSettings extends SettingsSource {
  /**
   * Returns the document in the file. Rejects with the file system's error, and with `TypeError` if the
   * document is invalid.
   */
  read(): Promise<SettingsDocument>
}

/**
 * Creates read-only settings in a JSON file, such as a mounted ConfigMap. The file holds the document of one
 * limiter. The limiter reads it when it is created, so the document is in force from the first charge. It
 * then checks every second whether the file has changed. The file is UTF-8 or UTF-16, with or without a
 * byte-order mark.
 *
 * If the file cannot be read or is invalid, the last valid document still applies, and the limiter emits
 * `settingsFailed`. Throws a `TypeError` if `path` is not a string.
 *
 * @example
 * ```ts
 * import { rateLimit } from 'headgate'
 * import { settingsFile } from 'headgate/settings-file'
 *
 * // The file holds { "limits": { "api": { "limit": 200 } } }.
 * const settings = settingsFile('/etc/limits/api.json')
 * const api = rateLimit({ name: 'api', limit: 100, window: '1m', settings })
 * ```
 */
export function settingsFile(path: string): FileSettings {
  if (typeof path !== 'string' || path === '') {
    const must = `path must be the path of a file, got ${path === '' ? 'an empty string' : showKind(path)}`
    throw new TypeError(`settingsFile: ${must}. Write settingsFile('/etc/headgate/api.json').`)
  }
  const feed = new DocumentFeed()
  let timer: NodeJS.Timeout | undefined
  let isReading = false
  let document: SettingsDocument | undefined

  const offer = (read: number, version: string, bytes: Buffer) =>
    feed.offer(read, version, function* settle() {
      document = yield* documentSteps(parseJson(textOf(path, bytes)), Date.now(), document)
      return { document }
    })

  function fail(read: number, error: unknown): void {
    feed.fail(
      read,
      new TypeError(`settingsFile: ${path} cannot be read: ${messageOf(error)}`, { cause: error }),
    )
  }

  function readNow(): void {
    const read = feed.startRead()
    try {
      atOnce(offer(read, versionOf(statSync(path, { bigint: true })), readFileSync(path)))
    } catch (error) {
      fail(read, error)
    }
  }

  async function readIfChanged(): Promise<void> {
    if (isReading) return
    isReading = true
    const read = feed.startRead()
    try {
      const version = versionOf(await stat(path, { bigint: true })) // before the text, so no change is missed
      if (version === feed.version) feed.recover(read)
      else await inSlices(offer(read, version, await readFile(path)))
    } catch (error) {
      fail(read, error)
    } finally {
      isReading = false
    }
  }

  function follow(follower: Follower): () => void {
    const unfollow = feed.follow(follower)
    if (timer === undefined) {
      readNow()
      timer = inBackground(setInterval(readIfChanged, INTERVAL_MS))
    }
    return () => {
      unfollow()
      if (feed.hasFollowers) return
      clearInterval(timer)
      timer = undefined
    }
  }

  return {
    [FOLLOW]: { follow: (limiter) => followDocument(follow, limiter) } satisfies DocumentSource,
    read: async () => inSlices(documentSteps(parseJson(textOf(path, await readFile(path))), Date.now())),
  }
}

/** Returns a text that changes whenever the file does, whether it is rewritten or replaced. */
function versionOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join('-')
}

/**
 * Returns the text in a file, without a byte-order mark. It is UTF-8, or UTF-16 as some editors and shells
 * write it. Throws a `TypeError` if it is empty or in another encoding, because a guess would change
 * identities.
 */
function textOf(path: string, bytes: Uint8Array): string {
  const [, encoding = 'utf-8'] =
    BEGINNINGS.find(([first]) => first.every((byte, i) => bytes[i] === byte)) ?? []
  const text = decode(path, bytes, encoding).replace(TRAILING_NULS, '')
  if (text.trim() !== '') return text
  throw new TypeError(`settingsFile: ${path} is empty. Write {} for a document without changes.`)
}

function decode(path: string, bytes: Uint8Array, encoding: string): string {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes)
  } catch (error) {
    throw new TypeError(`settingsFile: ${path} must be UTF-8. Save it as UTF-8.`, { cause: error })
  }
}
