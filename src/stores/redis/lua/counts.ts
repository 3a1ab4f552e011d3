import { type LuaKind, numbersState } from './lua-kind.js'

/** How the kinds of counted windows differ. */
interface LuaWindow {
  readonly params: LuaKind['params']
  readonly once: string
  /** Whether the window of `at` has not ended. */
  readonly isCurrent: string
  /** The time to keep after the first charge of a window, and after a later one. */
  readonly firstAt: string
  readonly nextAt: string
  /** The latest time that a state can have. */
  readonly latest: string
  /** Sets `begins_at` and `ends_at`, the window of any `at`, if it may have counted the charge of a refund. */
  readonly findWindow: string
  /** When the window of `at` ends, if it is the current one or the next. */
  readonly endOf: string
  readonly outdated?: string
}

/** Returns the kind of counted windows. State: the count, and the time of its window. */
function countedWindow(windows: LuaWindow): LuaKind {
  const { params, once, isCurrent, firstAt, nextAt, latest, findWindow, endOf, outdated } = windows
  const used = `(count > 0 and ${isCurrent} and count or 0)`
  return {
    params,
    once: `
    local room = limit${once}`,
    state: numbersState('count', 'at'),
    clamp: `
    if at > ${latest} then at, changed = ${latest}, true end`,
    take: `
    local used = ${used}
    allowed = used + cost <= room
    if allowed then count, at = used + cost, used == 0 and ${firstAt} or ${nextAt} end`,
    owe: 'room = limit + debt',
    left: `
    left = max(0, limit + debt - ${used})`,
    refund: `
    ${findWindow}
    if begins_at <= taken_at and taken_at < ends_at and max(now, at) < reset_at then
      changed, is_fresh, count = true, count <= cost, count - cost
    end`,
    reward: `
    changed, is_fresh, count = true, ${used} <= cost, count - cost`,
    expiry: `
    expires_at = count > 0 and ${endOf} or 0`,
    ...(outdated && { outdated }),
  }
}

export const FIXED_WINDOW = countedWindow({
  params: { limit: 'limit', windowMs: 'window', debt: 'debt' },
  once: `
    local start = floor(now / window) * window
    local stop = start + window`,
  isCurrent: 'at >= start',
  firstAt: 'now',
  nextAt: 'max(at, now)',
  latest: 'stop',
  findWindow: `
    local begins_at = floor(at / window) * window
    local ends_at = begins_at + window`,
  endOf: '(at >= start and at < stop and stop or floor(at / window) * window + window)',
})

export const FIRST_REQUEST_WINDOW = countedWindow({
  params: { limit: 'limit', windowMs: 'window', debt: 'debt' },
  once: '',
  isCurrent: 'now < at + window',
  firstAt: 'now',
  nextAt: 'at',
  latest: 'now',
  findWindow: `
    local begins_at, ends_at = at, at + window
    if ends_at > reset_at + 1 then begins_at = huge end`,
  endOf: 'at + window',
})

/** The starts of five periods, which a script gets in place of a calendar. */
export const PERIODS = ['p1', 'p2', 'p3', 'p4', 'p5'] as const

/**
 * A quota. Scripts have no calendar, so the client sends the starts of periods, of which `now` lies before the
 * last two. A clock that was far ahead may leave a time outside them. No refund then applies.
 */
export const QUOTA = countedWindow({
  params: { limit: 'limit', debt: 'debt', ...Object.fromEntries(PERIODS.map((name) => [name, name])) },
  once: `
    local start, stop, last = p1, p2, p3
    if now >= p3 then start, stop, last = p3, p4, p5 elseif now >= p2 then start, stop, last = p2, p3, p4 end`,
  outdated: 'now < p1 or now >= p4',
  isCurrent: 'at >= start',
  firstAt: 'now',
  nextAt: 'max(at, now)',
  latest: 'stop',
  findWindow: `
    local begins_at, ends_at = huge, huge
    if at >= p5 then begins_at, ends_at = huge, huge
    elseif at >= p4 then begins_at, ends_at = p4, p5
    elseif at >= p3 then begins_at, ends_at = p3, p4
    elseif at >= p2 then begins_at, ends_at = p2, p3
    elseif at >= p1 then begins_at, ends_at = p1, p2 end`,
  endOf: '(at < stop and stop or last)',
})

/** State: the count. */
export const CONSECUTIVE: LuaKind = {
  params: { limit: 'limit' },
  once: '',
  state: numbersState('count'),
  clamp: '',
  take: `
    allowed = count + cost <= limit
    if allowed then count = count + cost end`,
  left: `
    left = max(0, limit - count)`,
  refund: `
    changed, is_fresh, count = true, count <= cost, count - cost`,
  reward: `
    changed, is_fresh, count = true, count <= cost, count - cost`,
  expiry: `
    expires_at = count > 0 and huge or 0`,
}
