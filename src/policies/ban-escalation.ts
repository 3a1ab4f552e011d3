import type { State } from './policy.js'
import type { BanSpec } from './spec.js'

/** The numbers that a ban adds to the state of its base policy. In a clean record, all are 0. */
export interface BanRecord {
  /** The denials that count for the next ban. */
  readonly strikes: number
  /**
   * When the first of them came or, if none has come since the last ban, when that ban began. In the future
   * only if a clock was ahead.
   */
  readonly sinceMs: number
  /** The number of the last ban, from 1, and when it ends. */
  readonly level: number
  readonly bannedUntilMs: number
}

/** The rules by which a record changes. */
export type BanRules = Omit<BanSpec, 'kind' | 'base'>

export const RECORD_WIDTH = 4
export const CLEAN: BanRecord = { strikes: 0, sinceMs: 0, level: 0, bannedUntilMs: 0 }

export function splitState(state: State | undefined): { baseState: State | undefined; record: BanRecord } {
  if (state === undefined) return { baseState: undefined, record: CLEAN }
  const at = Math.max(0, state.length - RECORD_WIDTH)
  const record = {
    strikes: state[at] ?? 0,
    sinceMs: state[at + 1] ?? 0,
    level: state[at + 2] ?? 0,
    bannedUntilMs: state[at + 3] ?? 0,
  }
  return { baseState: state.slice(0, at), record }
}

/** Returns the state of a ban from its base policy's, which has its full width, and the record. */
export function joinState(baseState: State, record: BanRecord): State {
  return [...baseState, record.strikes, record.sinceMs, record.level, record.bannedUntilMs]
}

export function longestOf({ bansMs }: BanRules): number {
  return bansMs[bansMs.length - 1] ?? 0
}

/** Returns the record with one more denial, which may start a ban. */
export function strike(rules: BanRules, record: BanRecord, nowMs: number): BanRecord {
  const isRunning = strikesUntilMs(rules, record) > nowMs
  const strikes = isRunning ? record.strikes + 1 : 1
  if (strikes < rules.after) return { ...record, strikes, sinceMs: isRunning ? record.sinceMs : nowMs }
  const level = escalates(rules, record, nowMs) ? Math.min(record.level + 1, rules.bansMs.length) : 1
  return banFrom(nowMs, level, nowMs + banMsAt(rules, level))
}

/** Returns the record with a manual ban. It counts as a first ban, and never shortens a longer one. */
export function blockFor(rules: BanRules, record: BanRecord, nowMs: number, forMs: number): BanRecord {
  const level = escalates(rules, record, nowMs) ? Math.max(1, record.level) : 1
  return banFrom(nowMs, level, Math.max(record.bannedUntilMs, nowMs + forMs))
}

/** Returns the record with its ban started over. A longer ban, such as a manual one, keeps its end. */
export function restart(rules: BanRules, record: BanRecord, nowMs: number): BanRecord {
  const { level, bannedUntilMs } = record
  return banFrom(nowMs, level, Math.max(bannedUntilMs, nowMs + banMsAt(rules, level)))
}

function banFrom(sinceMs: number, level: number, bannedUntilMs: number): BanRecord {
  return { strikes: 0, sinceMs, level, bannedUntilMs }
}

function banMsAt(rules: BanRules, level: number): number {
  return rules.bansMs[level - 1] ?? longestOf(rules)
}

function escalates(rules: BanRules, { bannedUntilMs }: BanRecord, nowMs: number): boolean {
  return bannedUntilMs + longestOf(rules) > nowMs
}

/** Returns when the denials of a record stop counting; 0 if it has none. */
export function strikesUntilMs({ withinMs }: Pick<BanRules, 'withinMs'>, record: BanRecord): number {
  return record.strikes > 0 ? record.sinceMs + withinMs : 0
}

/** Returns the time until a record equals a clean one. */
export function cleanAfterMs(rules: BanRules, record: BanRecord, nowMs: number): number {
  const { level, bannedUntilMs } = record
  const levelUntilMs = level > 0 ? bannedUntilMs + longestOf(rules) : 0
  return Math.max(0, strikesUntilMs(rules, record) - nowMs, levelUntilMs - nowMs)
}

/**
 * Returns the record itself or, if a clock that was ahead wrote it, one that began now. A ban keeps its
 * length, even if the numbers of the policy have changed.
 */
export function clampRecord(record: BanRecord, nowMs: number): BanRecord {
  const { sinceMs, bannedUntilMs } = record
  if (sinceMs <= nowMs) return record
  const lengthMs = Math.max(0, bannedUntilMs - sinceMs) // 0 if the last ban ended before the denials came
  return { ...record, sinceMs: nowMs, bannedUntilMs: Math.min(bannedUntilMs, nowMs + lengthMs) }
}
