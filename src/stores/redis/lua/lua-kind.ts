/**
 * A kind of policy in Lua: pieces of code, a translation of the policy of that name in src/policies. A
 * script joins them: for one limit in its loop, for several into functions of one key.
 *
 * The pieces read and change locals: the params of the policy, what `once` sets, `now`, and the numbers of
 * the state, which are all 0 when fresh. Times are milliseconds since the Unix epoch. Params and the numbers
 * of states are floats in every version of Lua, so no product wraps around. Code that runs for every key
 * avoids function calls, which cost more than the rest: x - x % 1 is floor(x), x + -x % 1 is ceil(x).
 */
export interface LuaKind {
  /** The fields of a spec that scripts read, in the order of ARGV, and the locals that hold them. */
  readonly params: Readonly<Record<string, string>>
  /** Sets the locals that all other pieces read. Runs once per call. */
  readonly once: string
  readonly state: LuaState
  /** `clampToNow`: changes a state that only a clock ahead of `now` can have written, and sets `changed`. */
  readonly clamp: string
  /** `take` of a clamped state and a `cost` above 0. Sets `allowed`, and changes the state if it is. */
  readonly take: string
  /** Lets `take` go beyond the limit, up to the policy's debt. Absent from kinds without a debt. */
  readonly owe?: string
  /** Sets `left`: the most units that `take` allows after `owe`. Absent from kinds that hold units. */
  readonly left?: string
  /** `refund` of `cost` units by `taken_at` and `reset_at`. Sets `changed` and `is_fresh`. */
  readonly refund: string
  /**
   * `reward` of a clamped state by `cost` units. Sets `changed` and `is_fresh`. Absent if units are held.
   */
  readonly reward?: string
  /** `renew` of a clamped state by `cost`, `taken_at` and `reset_at`. Only if units are held. */
  readonly renew?: string
  /** `block` of a clamped state for `cost` ms. Only of a ban. */
  readonly block?: string
  /**
   * Sets `expires_at`, a time at which the state is fresh. It is rounded up to a sixteenth of a bucket's
   * span or to the end of a slice, so that most writes need not change the key's expiry.
   */
  readonly expiry: string
  /** Whether the params are for another time than `now`. Then the script applies nothing. */
  readonly outdated?: string
}

/** How the bytes that are stored become locals, and locals bytes. They begin with when the key expires. */
export interface LuaState {
  /** Sets the locals that the other pieces read. Runs once per call. */
  readonly once: string
  /** How many bytes are stored. If their number varies, it is that of a fresh state, and negative. */
  readonly size: string
  /** Set if the number of bytes varies: whether `bytes` are a state. */
  readonly isState?: string
  /** Sets `held`, when the key expires, and the locals of the state from `bytes`. */
  readonly unpack: string
  /** Makes the state that of a key which has used nothing. */
  readonly clear: string
  /** Code that comes before `pack`. */
  readonly seal: string
  /** The bytes to store, with `expires_at`. */
  readonly pack: string
  /**
   * The bytes after the expiry, as far as `take` may have changed them. Absent if the number of bytes
   * varies.
   */
  readonly packChanged?: string
  /** The same state with a ban's record at its end: four numbers of these names. */
  withRecord(names: readonly string[]): LuaState
}

/** A state of numbers, each of which is a local. */
export function numbersState(...names: readonly string[]): LuaState {
  const format = `'<d${'d'.repeat(names.length)}'`
  const list = names.join(', ')
  return {
    once: '',
    size: String(8 + 8 * names.length),
    unpack: `local held, ${list} = unpack_numbers(${format}, bytes)`,
    clear: `${list} = ${names.map(() => '0').join(', ')}`,
    seal: '',
    pack: `pack_numbers(${format}, expires_at, ${list})`,
    packChanged: `pack_numbers('<${'d'.repeat(names.length)}', ${list})`,
    withRecord: (record) => ({
      ...numbersState(...names, ...record),
      clear: `${list} = ${names.map(() => '0').join(', ')}`,
    }),
  }
}

/**
 * A state of numbers in the table `state`, from its second place on. `count` is the local with their number.
 * Its `take` sets `shift`: if that is 0, only the first two numbers have changed.
 */
export function tableState(count: string): LuaState {
  const tableOf = (record: readonly string[]): LuaState => {
    const names = record.join(', ')
    const all = 'pack_numbers(rest, unpack(state, 2, total))'
    const places = record.map((_, i) => `state[${count} + ${i + 2}]`).join(', ')
    return {
      once: `local total = 1 + ${count} + ${record.length}
  local format, rest = '<' .. string.rep('d', total), '<' .. string.rep('d', total - 1)`,
      size: '8 * total',
      unpack: `local state = { unpack_numbers(format, bytes) }
    local held = state[1]${names && `\n    local ${names} = ${places}`}`,
      clear: `for i = 2, ${count} + 1 do state[i] = 0 end`,
      seal: `state[1] = expires_at${names && `\n    ${places} = ${names}`}`,
      pack: 'pack_numbers(format, unpack(state, 1, total))',
      packChanged: names ? all : `shift == 0 and pack_numbers('<dd', state[2], state[3]) or ${all}`,
      withRecord: tableOf,
    }
  }
  return tableOf([])
}
