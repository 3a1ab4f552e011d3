import { TRIAL_DEFAULTS } from '../../tuning/trial/plan.js'
import { NAME } from '../../util/validate.js'
import { didYouMean, readArguments, readDuration } from '../arguments.js'
import { UsageError } from '../failures.js'
import { readAuthor, readPlace, readPrefix, type StorePlace } from '../settings/arguments.js'

const ACTIONS = ['start', 'status', 'approve', 'stop'] as const
/** What a command line wants of live traffic: proposals, or a step of a trial. */
export type LiveAction = 'propose' | (typeof ACTIONS)[number]

/** What a command line about live traffic asks for. */
export interface LiveRequest {
  readonly action: LiveAction
  /** The store as it was written. */
  readonly given: string
  readonly store: StorePlace
  readonly prefix: string
  /** What the client of the application adds before all keys. */
  readonly keyPrefix: string
  /** Absent for proposals for all limiters. */
  readonly limiter?: string
  readonly json: boolean
  readonly by: string
  /** Empty for what changes nothing. */
  readonly reason: string
  readonly trial: {
    /** 0 if nothing is started. */
    readonly limit: number
    readonly limitName?: string
    readonly watchMs: number
    readonly guardMs: number
    readonly maxHarmedShare: number
  }
}

const isStore = (text: string) => text.includes('://') || /\.[cm]?[jt]s$/.test(text)

/** Returns whether arguments are about live traffic: they begin with a store, or name one after a command. */
export function isLive(args: readonly string[]): boolean {
  const [first = ''] = args
  return (
    isStore(first) || ACTIONS.some((each) => each === first) || args.some((arg) => /^rediss?:\/\//.test(arg))
  )
}

/** Returns what the arguments ask for. Throws a `UsageError` for the first that is wrong. */
export function parseLiveArguments(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): LiveRequest {
  const { values, positionals } = readArguments(args, {
    prefix: { type: 'string', default: 'hg' },
    json: { type: 'boolean', default: false },
    limit: { type: 'string' },
    name: { type: 'string' },
    for: { type: 'string' },
    guard: { type: 'string' },
    'max-denied': { type: 'string' },
    by: { type: 'string' },
    reason: { type: 'string' },
  })
  const [action, rest] = readAction(positionals)
  const [given = '', [limiter, ...others]] = readGiven(rest, env.HEADGATE_STORE)
  if (others.length > 0) throw new UsageError(`expected one limiter, got ${1 + others.length}`)
  if (limiter === undefined && action !== 'propose')
    throw new UsageError(`no limiter given, such as tune ${action} ${shownStore(given)} api`)
  if (limiter !== undefined && !NAME.test(limiter))
    throw new UsageError(`${JSON.stringify(limiter)} is not the name of a limiter`)
  checkOptions(action, values)
  return {
    ...{ action, given, store: readPlace(given, 'the store'), ...readPrefix(values.prefix) },
    ...(limiter !== undefined && { limiter }),
    json: values.json,
    by: readAuthor(values.by),
    reason: readReason(action, values.reason),
    trial: {
      limit: action === 'start' ? readLimit(values.limit) : 0,
      ...(values.name !== undefined && { limitName: values.name }),
      watchMs: values.for === undefined ? TRIAL_DEFAULTS.watchMs : readDuration('for', values.for, '1d'),
      guardMs:
        values.guard === undefined ? TRIAL_DEFAULTS.guardMs : readDuration('guard', values.guard, '1h'),
      maxHarmedShare: readShare(values['max-denied']),
    },
  }
}

function readAction([word = '', ...rest]: readonly string[]): readonly [LiveAction, readonly string[]] {
  const action = ACTIONS.find((each) => each === word)
  if (action !== undefined) return [action, rest]
  if (isStore(word)) return ['propose', [word, ...rest]]
  throw new UsageError(`unknown command "tune ${word}"${didYouMean('', word, ACTIONS)}`)
}

/** Returns the store as it was written, and what follows it. */
function readGiven(
  words: readonly string[],
  fallback: string | undefined,
): readonly [string, readonly string[]] {
  const [first, ...rest] = words
  if (first !== undefined && isStore(first)) return [first, rest]
  if (fallback) return [fallback, words]
  throw new UsageError(
    'no store given: pass a URL such as redis://127.0.0.1:6379, or a module such as ./store.js',
  )
}

/** A URL may have a password, which is not shown. */
const shownStore = (given: string) => (given.includes('@') ? '<store>' : given)

/** Throws for an option that says nothing about what is asked for. */
function checkOptions(action: LiveAction, values: Readonly<Record<string, unknown>>): void {
  const ofStart = ['limit', 'name', 'for', 'guard', 'max-denied']
  const ofSteps = ['by', 'reason']
  const wrong = [
    ...(action === 'start' ? [] : ofStart),
    ...(action === 'propose' || action === 'status' ? ofSteps : []),
  ].find((name) => values[name] !== undefined)
  if (wrong === undefined) return
  const where = ofSteps.includes(wrong) ? 'start, approve and stop' : 'start'
  throw new UsageError(`--${wrong} is an option of tune ${where}`)
}

function readReason(action: LiveAction, reason = ''): string {
  if (action === 'propose' || action === 'status' || reason.trim() !== '') return reason
  throw new UsageError('--reason is required, such as --reason "most clients ask for less"')
}

function readLimit(text: string | undefined): number {
  if (text === undefined) throw new UsageError('--limit is required, such as --limit 100')
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text)
  throw new UsageError(`--limit must be a whole number from 1, got ${JSON.stringify(text)}`)
}

function readShare(text: string | undefined): number {
  if (text === undefined) return TRIAL_DEFAULTS.maxHarmedShare
  const [, percent] = /^(\d{1,3}(?:\.\d{1,6})?) ?%$/.exec(text) ?? []
  if (percent !== undefined && Number(percent) <= 100) return Number(percent) / 100
  throw new UsageError(`--max-denied must be a share such as 1% or 0.5%, got ${JSON.stringify(text)}`)
}
