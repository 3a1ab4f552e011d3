/** The names of some events, with the arguments of their listeners. */
type EventMap<Events> = { readonly [Name in keyof Events]: readonly unknown[] }

/** The listener of each event. */
export type Listeners<Events extends EventMap<Events>> = {
  readonly [Name in keyof Events]: (...args: Events[Name]) => void
}

/**
 * Emits events to listeners, as an `EventEmitter` of Node.js does. On Node.js, Deno and Bun, it is one, and
 * works with `once` and `on` of `node:events`.
 */
export interface Emitter<Events extends EventMap<Events>> {
  /** Calls a listener at each event of this name. */
  on<Name extends keyof Events>(name: Name, listener: Listeners<Events>[Name]): this
  /** Calls a listener at the next event of this name. */
  once<Name extends keyof Events>(name: Name, listener: Listeners<Events>[Name]): this
  /** Removes a listener. If it was added several times, removes the one that was added last. */
  off<Name extends keyof Events>(name: Name, listener: Listeners<Events>[Name]): this
  /** The same as `on`. */
  addListener<Name extends keyof Events>(name: Name, listener: Listeners<Events>[Name]): this
  /** The same as `off`. */
  removeListener<Name extends keyof Events>(name: Name, listener: Listeners<Events>[Name]): this
  /** Adds a listener that is called before the others. */
  prependListener<Name extends keyof Events>(name: Name, listener: Listeners<Events>[Name]): this
  /** Adds a listener that is called before the others, once. */
  prependOnceListener<Name extends keyof Events>(name: Name, listener: Listeners<Events>[Name]): this
  /** Removes all listeners, or those of one event. */
  removeAllListeners(name?: keyof Events): this
  /** Calls the listeners of an event in order. Returns whether there is one. */
  emit<Name extends keyof Events>(name: Name, ...args: Events[Name]): boolean
  /** Returns how many listeners an event has, or how often it has this one. */
  listenerCount<Name extends keyof Events>(name: Name, listener?: Listeners<Events>[Name]): number
  listeners(name: keyof Events): ((...args: never[]) => unknown)[]
  /** Returns the listeners of an event. Those that `once` added are wrapped. */
  rawListeners(name: keyof Events): ((...args: never[]) => unknown)[]
  /** Returns the events that have listeners. */
  eventNames(): (keyof Events)[]
  /** Sets how many listeners of an event Node.js accepts without a warning. */
  setMaxListeners(count: number): this
  getMaxListeners(): number
}

type Listener = (...args: unknown[]) => unknown
/** A listener, or a function that calls it once. In that case, `listener` is the one that was added. */
type Stored = Listener & { readonly listener?: Listener }

const NONE: readonly Stored[] = []

/** The emitter of platforms without an `EventEmitter`. It never warns of too many listeners. */
export class PortableEmitter implements Emitter<Record<string, unknown[]>> {
  /** By event. A changed list is a new one, so an event in progress keeps its listeners. */
  readonly #listeners = new Map<string, readonly Stored[]>()
  #maxListeners = 10

  on(name: string, listener: Listener): this {
    return this.#set(name, [...this.#of(name), listener])
  }

  once(name: string, listener: Listener): this {
    return this.on(name, this.#onceOnly(name, listener))
  }

  prependListener(name: string, listener: Listener): this {
    return this.#set(name, [listener, ...this.#of(name)])
  }

  prependOnceListener(name: string, listener: Listener): this {
    return this.prependListener(name, this.#onceOnly(name, listener))
  }

  off(name: string, listener: Listener): this {
    const index = this.#of(name).findLastIndex((each) => each === listener || each.listener === listener)
    return this.#set(name, index < 0 ? this.#of(name) : this.#of(name).toSpliced(index, 1))
  }

  addListener(name: string, listener: Listener): this {
    return this.on(name, listener)
  }

  removeListener(name: string, listener: Listener): this {
    return this.off(name, listener)
  }

  removeAllListeners(...names: string[]): this {
    for (const name of names.length > 0 ? names : this.eventNames()) this.#listeners.delete(name)
    return this
  }

  emit(name: string, ...args: unknown[]): boolean {
    const listeners = this.#of(name)
    if (name === 'error' && listeners.length === 0) throw args[0]
    for (const listener of listeners) listener.apply(this, args)
    return listeners.length > 0
  }

  listenerCount(name: string, listener?: Listener): number {
    if (listener === undefined) return this.#of(name).length
    return this.listeners(name).filter((each) => each === listener).length
  }

  listeners(name: string): Listener[] {
    return this.#of(name).map((each) => each.listener ?? each)
  }

  rawListeners(name: string): Listener[] {
    return [...this.#of(name)]
  }

  eventNames(): string[] {
    return [...this.#listeners.keys()]
  }

  setMaxListeners(count: number): this {
    this.#maxListeners = count
    return this
  }

  getMaxListeners(): number {
    return this.#maxListeners
  }

  #of(name: string): readonly Stored[] {
    return this.#listeners.get(name) ?? NONE
  }

  #set(name: string, listeners: readonly Stored[]): this {
    if (listeners.length === 0) this.#listeners.delete(name)
    else this.#listeners.set(name, listeners)
    return this
  }

  #onceOnly(name: string, listener: Listener): Stored {
    const callOnce = (...args: unknown[]) => {
      this.off(name, callOnce)
      listener.apply(this, args)
    }
    return Object.assign(callOnce, { listener })
  }
}
