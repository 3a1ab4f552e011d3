import { EventEmitter, once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Mode } from '../../../src/limiter/access-rules.js'

/** What happens in a server, counted by name. A test reads it over HTTP, wherever the server runs. */
export interface Signals {
  count(name: string): void
  /** Counts `name`, and waits until the test releases all that wait. */
  hold(name: string): Promise<void>
  /** Calls `listener` with each mode that the test switches to. */
  onMode(listener: (mode: Mode) => void): void
  /**
   * Answers the test: `/NAME?COUNT` with how often a name was counted, once that is `COUNT` at least;
   * `/release` after the release; `/mode?MODE` after the switch.
   */
  answer(req: IncomingMessage, res: ServerResponse): Promise<void>
}

/** Creates the signals of one server. */
export function serveSignals(): Signals {
  const counts = new Map<string, number>()
  const changes = new EventEmitter().setMaxListeners(0)
  const countOf = (name: string) => counts.get(name) ?? 0
  function count(name: string): void {
    counts.set(name, countOf(name) + 1)
    changes.emit('count')
  }
  return {
    count,
    async hold(name) {
      count(name)
      await once(changes, 'release')
    },
    onMode: (listener) => void changes.on('mode', listener),
    async answer({ url = '' }, res) {
      const [name = '', least = '0'] = decodeURIComponent(url.slice(1)).split('?')
      if (name === 'release') changes.emit('release')
      if (name === 'mode') changes.emit('mode', least)
      while (countOf(name) < Number(least)) await once(changes, 'count')
      res.end(String(countOf(name)))
    },
  }
}

/** Reads the signals of a server from its port for them. */
export interface RemoteSignals {
  /** Returns how often a name was counted. Waits until that is `least` at least. */
  countOf(name: string, least?: number): Promise<number>
  /** Releases all that wait. */
  release(): Promise<void>
  /** Switches the mode of the limiter of the scenario `switched`. */
  switchMode(mode: Mode): Promise<void>
}

/** Returns what reads the signals of a server. */
export function signalsAt(port: number): RemoteSignals {
  const ask = (path: string) => fetch(`http://[::1]:${port}/${encodeURIComponent(path)}`)
  return {
    countOf: async (name, least = 0) => Number(await (await ask(`${name}?${least}`)).text()),
    switchMode: async (mode) => void (await (await ask(`mode?${mode}`)).text()),
    release: async () => void (await (await ask('release')).text()),
  }
}
