import { randomUUID } from 'node:crypto'
import { isOwnAuthor } from '../../tuning/trial/own-author.js'
import { durationMs } from '../../util/durations.js'
import { NAME } from '../../util/validate.js'
import { fieldsOf, isObject } from '../../util/values.js'
import type { Effect } from '../actions/overrides.js'
import type { ChangeAuthor } from '../actions/settings-of.js'
import { RequestError } from './respond.js'

/** What the page sends. */
export type Body = Readonly<Record<string, unknown>>

/** Who does something, and why, as far as they say so. */
interface Author {
  readonly by?: string
  readonly reason?: string
}

/** The longest name of an operator, and the longest reason. */
const MAX_NAME = 200
const MAX_REASON = 500

/** Returns who acts: whom the option `operator` names, otherwise the name that the page has asked for. */
function readAuthor({ by, reason }: Body, operator: string | undefined): Author {
  const name = operator ?? readText('by', by, MAX_NAME)
  if (name !== undefined && isOwnAuthor(name)) throw new RequestError(400, reservedName(name, operator))
  const why = readText('reason', reason, MAX_REASON)
  return { ...(name !== undefined && { by: name }), ...(why !== undefined && { reason: why }) }
}

function reservedName(name: string, operator: string | undefined): string {
  const what = `${JSON.stringify(name)} is reserved for changes that trials make.`
  if (operator === undefined) return `${what} Enter another name.`
  return `${what} The option operator of the dashboard must return another name.`
}

/** Returns who makes a change, and why, which both are recorded. A repeated change has the `id` of the first. */
export function readChangeAuthor(body: Body, operator: string | undefined): ChangeAuthor {
  const { by, reason } = readAuthor(body, operator)
  if (by === undefined)
    throw new RequestError(400, 'Say who you are: add by, the name of whoever makes the change.')
  if (reason === undefined)
    throw new RequestError(400, 'A reason is required: add reason, which the history keeps with the change.')
  const { id = randomUUID() } = body
  if (typeof id !== 'string' || !NAME.test(id))
    throw new RequestError(400, 'id must be 1 to 64 letters, digits, dots, dashes or underscores.')
  return { by, reason, id }
}

/** Returns what an override does: `block`, `exempt`, or new numbers of limits. */
export function readEffect({ effect, limits }: Body): Effect {
  if (effect === 'block') return { block: true }
  if (effect === 'exempt') return { exempt: true }
  if (effect === 'raise' && isObject(limits)) return { limits: fieldsOf(limits) as never }
  throw new RequestError(400, "effect must be 'block', 'exempt', or 'raise' with limits.")
}

/** Returns how long an override lasts: `Infinity` for `null`, which is without an end. */
export function readLength(lengthMs: unknown): number {
  return lengthMs === null ? Number.POSITIVE_INFINITY : durationMs('dashboard', 'durationMs', lengthMs)
}

/** Returns the version that a change is based on: the `id` of the latest change, or `null` if there was none. */
export function readBase(base: unknown): string | null {
  if (base === null || typeof base === 'string') return base
  throw new RequestError(400, 'base must be the id of a change, or null.')
}

function readText(field: string, text: unknown, maxLength: number): string | undefined {
  if (text === undefined) return undefined
  if (typeof text !== 'string' || text.length > maxLength || !text.isWellFormed())
    throw new RequestError(400, `${field} must be a string of at most ${maxLength} characters.`)
  return text.trim() || undefined
}
