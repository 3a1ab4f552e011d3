import type { Mode } from '../../limiter/access-rules.js'
import { durationText } from '../../util/durations.js'
import type { LimitRow } from '../figures/report.js'
import type { ShownClient } from '../figures/shown.js'

/** What a finding has that no action is offered for. */
export const NO_TARGETS = { identities: [], networks: [], routes: [] } as const

/** At most this many clients are named one by one. */
export const FEW_CLIENTS = 3

const whole = new Intl.NumberFormat('en')

/** Returns a count with its noun: `1 client`, `3,400 clients`. */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${whole.format(count)} ${count === 1 ? noun : plural}`
}

/** Returns how often something happens: a digit after the point below 10, and by the minute below 1 in 10 s. */
export function rateText(perSecond: number, noun: string): string {
  if (perSecond >= 9.95) return `${counted(Math.round(perSecond), noun)} a second`
  if (perSecond >= 0.1) return `${perSecond.toFixed(1)} ${noun}s a second`
  return `${counted(Math.max(1, Math.round(60 * perSecond)), noun)} a minute`
}

export function percentText(share: number): string {
  if (share > 0 && share < 0.01) return 'less than 1%'
  if (share < 1 && share > 0.99) return 'more than 99%'
  return `${Math.round(100 * share)}%`
}

/** Returns how long something lasted, in seconds, minutes or hours. */
export function lengthText(ms: number): string {
  const seconds = Math.ceil(ms / 1000)
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.round(ms / 60_000)
  if (minutes < 60) return `${minutes} min`
  return minutes % 60 === 0 ? `${minutes / 60} h` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

/** Returns a time of day that the page writes by the reader's clock. */
export function timeMark(atMs: number): string {
  return `{${Math.round(atMs)}}`
}

/** Returns what a client chose in a form that never reads as a time of day. */
export function plainText(text: string): string {
  return text.replace(/\{(?=\d+\})/g, '{ ')
}

/** Returns what a denial is called: in report mode, nothing is denied. */
export function denialNoun(mode: Mode): string {
  return mode === 'report' ? 'excess request' : 'denial'
}

/** Returns names in a sentence: the first two, and how many others there are. */
export function listText(names: readonly string[], noun: string, plural = `${noun}s`): string {
  const shown = names.slice(0, names.length > 3 ? 2 : 3)
  const others = names.length - shown.length
  if (others > 0) return `${shown.join(', ')} and ${counted(others, `other ${noun}`, `other ${plural}`)}`
  const last = shown.at(-1) ?? ''
  return shown.length > 1 ? `${shown.slice(0, -1).join(', ')} and ${last}` : last
}

/** Returns a client by its label, if the application gives one. */
export function clientText({ label, identity }: Pick<ShownClient, 'label' | 'identity'>): string {
  return plainText(label === undefined ? identity : `${label} (${identity})`)
}

/** Returns what a limit allows: `100 per 1m`. */
export function limitText({ limit, windowMs }: Pick<LimitRow, 'limit' | 'windowMs'>): string {
  return windowMs === null ? whole.format(limit) : `${whole.format(limit)} per ${durationText(windowMs)}`
}

/** A route that has at least this share of denials is named as the one that they are on. */
const MOST = 0.8

/** Returns where denials are, with a comma before it: `, all on POST /search`; '' if they are on many routes. */
export function routeText(routes: readonly { readonly route: string; readonly denied: number }[]): string {
  const total = routes.reduce((sum, { denied }) => sum + denied, 0)
  const [first] = routes
  if (first === undefined || first.denied < MOST * total) return ''
  return `, ${first.denied === total ? 'all' : 'most'} on ${plainText(first.route)}`
}
