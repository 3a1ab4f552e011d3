import { spellingsOf } from '../../keys/spellings.js'
import { readSecret } from '../../limiter/read-options.js'
import { messageOf } from '../../stores/store-error.js'
import { readArguments, readDuration } from '../arguments.js'
import { UsageError } from '../failures.js'
import { readStoreUrl, type StoreAddress } from './store-url.js'

/** Which keys a command line is about. */
export interface KeySettings {
  /** What was typed, and the identities under which stores may have it. */
  readonly identity: string
  readonly spellings: readonly string[]
  readonly hasSecret: boolean
  readonly store: StoreAddress
  readonly prefix: string
  /** Names of limiters, or of their limits as `limiter/limit`. Empty for all. */
  readonly limiters: readonly string[]
  readonly json: boolean
}

/** What `block` is asked for. */
export interface BlockSettings extends KeySettings {
  readonly banMs: number
  /** Returns the spellings of which IPv6 networks have one of some prefixes. */
  spellingsWith(ipv6Prefixes: readonly number[]): readonly string[]
}

type Environment = Readonly<Record<string, string | undefined>>

const OPTIONS = {
  store: { type: 'string' },
  prefix: { type: 'string' },
  limiter: { type: 'string', multiple: true },
  'secret-env': { type: 'string' },
  json: { type: 'boolean' },
} as const
const BLOCK_OPTIONS = { ...OPTIONS, for: { type: 'string' } } as const

/** Returns what `inspect` or `release` is asked for. Throws a `UsageError` for the first wrong argument. */
export function parseKeyArguments(args: readonly string[], env: Environment): KeySettings {
  return readSettings(readArguments(args, OPTIONS), env)
}

/** Returns what `block` is asked for. Throws a `UsageError` for the first wrong argument. */
export function parseBlockArguments(args: readonly string[], env: Environment): BlockSettings {
  const read = readArguments(args, BLOCK_OPTIONS)
  const settings = readSettings(read, env)
  const secret = secretOf(read.values['secret-env'], env)
  return {
    ...settings,
    banMs: readDuration('for', read.values.for, '1h'),
    spellingsWith: (ipv6Prefixes) => spellingsOf(settings.identity, { secret }, ipv6Prefixes),
  }
}

function readSettings(
  { values, positionals }: ReturnType<typeof readArguments<typeof OPTIONS>>,
  env: Environment,
): KeySettings {
  const [identity, ...others] = positionals
  if (identity === undefined)
    throw new UsageError('no identity given: pass an IP address such as 203.0.113.7, or a user')
  if (others.length > 0)
    throw new UsageError(
      `expected one identity, got ${positionals.length}: quote an identity that contains spaces`,
    )
  const prefix = values.prefix ?? 'hg'
  if (prefix === '') throw new UsageError('--prefix must not be empty')
  const secret = secretOf(values['secret-env'], env)
  const spellings = spellingsOf(identity, { secret })
  if (spellings.length === 0) throw new UsageError('the identity must have 1 to 1024 characters')
  return {
    identity,
    spellings,
    hasSecret: secret !== undefined,
    store: readStoreUrl(values.store ?? env.HEADGATE_STORE),
    prefix,
    limiters: values.limiter ?? [],
    json: values.json ?? false,
  }
}

/** Returns the secret that an environment variable holds: a secret on the command line is for all to see. */
function secretOf(name: string | undefined, env: Environment): string | undefined {
  const variable = name ?? 'HEADGATE_SECRET'
  const secret = env[variable]
  if (secret === undefined && name !== undefined)
    throw new UsageError(
      `--secret-env names ${JSON.stringify(name)}, but that environment variable is not set`,
    )
  if (secret === undefined) return undefined
  try {
    return readSecret(variable, 'secret', secret)
  } catch (error) {
    throw new UsageError(messageOf(error))
  }
}
