import { hostname, userInfo } from 'node:os'
import { resolve } from 'node:path'
import type { SettingsOverride } from '../../limiter/settings-document.js'
import { isOwnAuthor } from '../../tuning/trial/own-author.js'
import { NAME } from '../../util/validate.js'
import { didYouMean, readArguments, readDuration } from '../arguments.js'
import { UsageError } from '../failures.js'
import { readStoreUrl, type StoreAddress } from '../keys/store-url.js'

/** Where settings are: a server, or the path of a module that exports a store. */
export type StorePlace = { readonly address: StoreAddress } | { readonly module: string }

/** What a command line of `headgate settings` asks for. */
export interface SettingsRequest {
  readonly action: Action
  readonly limiter: string
  /** What follows the name of the limiter. */
  readonly rest: readonly string[]
  readonly store: StorePlace
  /** The prefix of `sharedSettings`. */
  readonly prefix: string
  /** What the client of the application adds before all keys, such as `app:`. */
  readonly keyPrefix: string
  /** The target of an override, if any. */
  readonly target: SettingsOverride | undefined
  /** When an override ends, if it does. */
  readonly until: string | undefined
  readonly by: string
  /** Empty for commands that change nothing. */
  readonly reason: string
  /** The `id` of the change that an edit is based on; `null` for the document before its first change. */
  readonly base: string | null | undefined
  readonly isForced: boolean
  readonly isDryRun: boolean
  /** Whether a change is saved without asking. */
  readonly isConfirmed: boolean
  readonly json: boolean
}

const ACTIONS = [
  'show',
  'history',
  'set',
  'unset',
  'exempt',
  'block',
  'override',
  'remove',
  'candidate',
  'edit',
  'undo',
] as const
export type Action = (typeof ACTIONS)[number]

/** The commands that change nothing. */
const READING: readonly Action[] = ['show', 'history']
/** The commands that are about one override. */
const TARGETED: readonly Action[] = ['exempt', 'block', 'override', 'remove']

type Environment = Readonly<Record<string, string | undefined>>

/** Returns what `headgate settings` is asked for. Throws a `UsageError` for the first wrong argument. */
export function parseSettingsArguments(args: readonly string[], env: Environment): SettingsRequest {
  const { values, positionals } = readArguments(args, {
    store: { type: 'string' },
    prefix: { type: 'string', default: 'hg' },
    identity: { type: 'string', multiple: true, default: [] },
    'stored-identity': { type: 'string' },
    'identity-prefix': { type: 'string' },
    network: { type: 'string' },
    for: { type: 'string' },
    until: { type: 'string' },
    by: { type: 'string' },
    reason: { type: 'string' },
    base: { type: 'string' },
    force: { type: 'boolean', default: false },
    'dry-run': { type: 'boolean', default: false },
    yes: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  })
  const [word, limiter, ...rest] = positionals
  const action = actionNamed(word)
  const { identity: identities, network } = values
  const targets: SettingsOverride = {
    ...(identities.length > 0 && { identity: identities.length === 1 ? identities[0] : identities }),
    ...(values['stored-identity'] !== undefined && { storedIdentity: values['stored-identity'] }),
    ...(values['identity-prefix'] !== undefined && { identityPrefix: values['identity-prefix'] }),
    ...(network !== undefined && { network }),
  } as SettingsOverride
  const request = {
    action,
    limiter: readLimiter(action, limiter),
    rest,
    store: readPlace(values.store ?? env.HEADGATE_STORE),
    ...readPrefix(values.prefix),
    target: readTarget(action, targets),
    until: readEnd(action, values.for, values.until),
    by: readAuthor(values.by),
    reason: values.reason ?? '',
    base: values.base === 'none' ? null : values.base,
    isForced: values.force,
    isDryRun: values['dry-run'],
    isConfirmed: values.yes,
    json: values.json,
  }
  if (request.isForced && action !== 'edit') throw new UsageError('--force is for edit')
  return READING.includes(action) ? request : { ...request, reason: readReason(request) }
}

function actionNamed(word: string | undefined): Action {
  const action = ACTIONS.find((each) => each === word)
  if (action !== undefined) return action
  if (word === undefined)
    throw new UsageError(`no command given: write settings and one of ${ACTIONS.join(', ')}`)
  const fix = didYouMean('', word, ACTIONS)
  throw new UsageError(`unknown command "settings ${word}"${fix}`)
}

function readLimiter(action: Action, limiter: string | undefined): string {
  if (limiter === undefined) throw new UsageError(`no limiter given, such as settings ${action} api`)
  if (NAME.test(limiter)) return limiter
  throw new UsageError(`${JSON.stringify(limiter)} is not the name of a limiter`)
}

export function readPlace(text: string | undefined, given?: string): StorePlace {
  const isModule = text !== undefined && text !== '' && !text.includes('://')
  return isModule ? { module: resolve(text) } : { address: readStoreUrl(text, given) }
}

/** Splits a prefix such as `app:hg` into what the client of the application adds, and the rest. */
export function readPrefix(text: string): Pick<SettingsRequest, 'prefix' | 'keyPrefix'> {
  const at = text.lastIndexOf(':') + 1
  const prefix = text.slice(at)
  if (NAME.test(prefix)) return { prefix, keyPrefix: text.slice(0, at) }
  throw new UsageError(`--prefix must end in a name, such as hg or app:hg, got ${JSON.stringify(text)}`)
}

function readTarget(action: Action, targets: SettingsOverride): SettingsOverride | undefined {
  const count = Object.keys(targets).length
  if (!TARGETED.includes(action)) {
    if (count === 0) return undefined
    throw new UsageError(`settings ${action} takes no client: use exempt, block, override or remove`)
  }
  if (count === 1) return targets
  const options = '--identity, --stored-identity, --identity-prefix or --network'
  throw new UsageError(`settings ${action} requires one of ${options}, got ${count === 0 ? 'none' : count}`)
}

function readEnd(action: Action, length: string | undefined, until: string | undefined): string | undefined {
  if (length === undefined && until === undefined) return undefined
  if (!TARGETED.includes(action) || action === 'remove')
    throw new UsageError('--for and --until are for exempt, block and override')
  if (until === undefined) return new Date(Date.now() + readDuration('for', length, '1h')).toISOString()
  if (length === undefined) return until
  throw new UsageError('--for and --until cannot be combined')
}

function readReason({ reason, isDryRun }: Pick<SettingsRequest, 'reason' | 'isDryRun'>): string {
  if (reason.trim() !== '') return reason
  if (isDryRun) return 'a dry run'
  throw new UsageError('--reason is required, such as --reason "launch day"')
}

/** Returns who makes a change: by default, who runs the command. */
export function readAuthor(by = operator()): string {
  if (!isOwnAuthor(by)) return by
  throw new UsageError(
    `--by ${JSON.stringify(by)} is reserved for changes that trials make: write another name`,
  )
}

/** Returns the user of the operating system, and the host. */
function operator(): string {
  return `${userName()}@${hostname()}`.slice(0, 200)
}

function userName(): string {
  try {
    return userInfo().username
  } catch {
    return 'unknown' // the user of a container may have no name
  }
}
