import { type ParseArgsConfig, parseArgs } from 'node:util'
import { messageOf } from '../stores/store-error.js'
import { durationMs } from '../util/durations.js'
import { findNearest } from '../util/validate.js'
import { UsageError } from './failures.js'

type ArgumentTable = NonNullable<ParseArgsConfig['options']>

/** Returns the options and the other arguments of a command. Throws a `UsageError` for a wrong option. */
export function readArguments<const T extends ArgumentTable>(args: readonly string[], options: T) {
  checkNames(args, Object.keys(options))
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true })
  } catch (error) {
    throw new UsageError(messageOf(error).split('. ', 1)[0])
  }
}

/** Throws for an unknown option, with the nearest: `parseArgs` suggests none. */
function checkNames(args: readonly string[], optionNames: readonly string[]): void {
  const end = args.indexOf('--')
  for (const arg of end < 0 ? args : args.slice(0, end)) {
    if (!arg.startsWith('-') || arg === '-' || /^-\d/.test(arg)) continue
    const [given = ''] = arg.split('=', 1)
    const name = given.replace(/^-+/, '')
    if (given.startsWith('--') && optionNames.includes(name)) continue
    throw new UsageError(`unknown option ${JSON.stringify(given)}${didYouMean('--', name, optionNames)}`)
  }
}

/** Returns the end of a message about an unknown word, with the nearest of `words` if there is any. */
export function didYouMean(before: string, word: string, words: readonly string[]): string {
  const near = words.length === 0 ? undefined : findNearest(word, words)
  return near === undefined ? '' : `; did you mean ${before}${near}?`
}

/** Returns a length of time in milliseconds. Throws a `UsageError` for one without its unit. */
export function readDuration(option: string, text: string | undefined, example: string): number {
  if (text === undefined) throw new UsageError(`--${option} is required, such as --${option} ${example}`)
  try {
    return durationMs('cli', option, text)
  } catch {
    const must = 'a duration with a unit, such as 10s, 1m or 24h, and at most 10 years'
    throw new UsageError(`--${option} must be ${must}, got ${JSON.stringify(text)}`)
  }
}
