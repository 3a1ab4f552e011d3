import type { State } from './policy.js'
import type { BanSpec } from './spec.js'

/** The numbers that a ban adds to the state of its base policy. In a clean record, all are 0. */
export interface BanRecord {
  /** The denials so far, and when they stop counting. */
  readonly strikes: number
  readonly strikesUntilMs: number
  /** The number of the last ban, from 1, and when it ends. */
  readonly level: number
  readonly bannedUntilMs: number
}

/** The rules by which a record changes. */
export type BanRules = Omit<BanSpec, 'kind' | 'base'>

export const RECORD_WIDTH = 4
export const CLEAN: BanRecord = { strikes: 0, strikesUntilMs: 0, level: 0, bannedUntilMs: 0 }

export function splitState(state: State | undefined): { baseState: State | undefined; record: BanRecord } {
  if (state === undefined) return { baseState: undefined, record: CLEAN }
  const at = Math.max(0, state.length - RECORD_WIDTH)
  const record = {
    strikes: state[at] ?? 0,
    strikesUntilMs: state[at + 1] ?? 0,
    level: state[at + 2] ?? 0,
    bannedUntilMs: state[at + 3] ?? 0,
  }
  return { baseState: state.slice(0, at), record }
}

/** Returns the state of a ban from its base policy's, which has its full width, and the record. */
export function joinState(baseState: State, record: BanRecord): State {
  return [...baseState, record.strikes, record.strikesUntilMs, record.level, record.bannedUntilMs]
}

export function longestOf({ bansMs }: BanRules): number {
  return bansMs[bansMs.length - 1] ?? 0
}

export function banMsAt(rules: BanRules, level: number): number {
  return rules.bansMs[level - 1] ?? longestOf(rules)
}

/** Returns the record with one more denial, which may start a ban. */
export function strike(rules: BanRules, record: BanRecord, nowMs: number): BanRecord {
  const isRunning = record.strikesUntilMs > nowMs
  const strikes = isRunning ? record.strikes + 1 : 1
  const strikesUntilMs = isRunning ? record.strikesUntilMs : nowMs + rules.withinMs
  if (strikes < rules.after) return { ...record, strikes, strikesUntilMs }
  const level = escalates(rules, record, nowMs) ? Math.min(record.level + 1, rules.bansMs.length) : 1
  return { ...CLEAN, level, bannedUntilMs: nowMs + banMsAt(rules, level) }
}

/** Returns the record with a manual ban. It counts as a first ban, and never shortens a longer one. */
export function blockFor(rules: BanRules, record: BanRecord, nowMs: number, forMs: number): BanRecord {
  const level = escalates(rules, record, nowMs) ? Math.max(1, record.level) : 1
  return { ...CLEAN, level, bannedUntilMs: Math.max(record.bannedUntilMs, nowMs + forMs) }
}

function escalates(rules: BanRules, { bannedUntilMs }: BanRecord, nowMs: number): boolean {
  return bannedUntilMs + longestOf(rules) > nowMs
}

/** Returns the time until a record equals a clean one. */
export function cleanAfterMs(rules: BanRules, record: BanRecord, nowMs: number): number {
  const { strikesUntilMs, level, bannedUntilMs } = record
  return Math.max(0, strikesUntilMs - nowMs, level > 0 ? bannedUntilMs + longestOf(rules) - nowMs : 0)
}

/** Returns the record itself, or the latest one possible at `nowMs` if a clock that was ahead wrote it. */
export function clampRecord(rules: BanRules, record: BanRecord, nowMs: number): BanRecord {
  const strikesUntilMs = Math.min(record.strikesUntilMs, nowMs + rules.withinMs)
  const bannedUntilMs = Math.min(record.bannedUntilMs, nowMs + longestOf(rules))
  const isAhead = strikesUntilMs < record.strikesUntilMs || bannedUntilMs < record.bannedUntilMs
  return isAhead ? { ...record, strikesUntilMs, bannedUntilMs } : record
}
