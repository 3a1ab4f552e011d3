import { createHash, createHmac } from 'node:crypto'
import { EventEmitter, once } from 'node:events'
import fc from 'fast-check'
import type * as Platform from '../../src/platform.js'
import type { Emitter } from '../../src/util/emitter.js'

/** Loads the platform anew with these globals, as on a platform that has them. `undefined` means that it has none. */
function platformWith(globals: Readonly<Record<string, unknown>>): typeof Platform {
  const before = Object.keys(globals).map((name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)])
  for (const [name, value] of Object.entries(globals))
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true })
  try {
    let loaded: typeof Platform | undefined
    jest.isolateModules(() => {
      loaded = require('../../src/platform.js')
    })
    if (loaded === undefined) throw new Error('not loaded')
    return loaded
  } finally {
    for (const [name, descriptor] of before as [string, PropertyDescriptor | undefined][])
      if (descriptor === undefined) Reflect.deleteProperty(globalThis, name)
      else Object.defineProperty(globalThis, name, descriptor)
  }
}

const node = platformWith({})
const portable = platformWith({ process: undefined, Buffer: undefined })

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)) }), // lone surrogates
)

test('each version of SHA-256, SHA-1 and HMAC returns what node:crypto does, for any text', () => {
  const hash = (name: string, data: string, encoding: 'hex' | 'base64url') =>
    createHash(name).update(data).digest(encoding)
  fc.assert(
    fc.property(text, text, (data, secret) => {
      for (const { sha256, sha1, hmacSha256 } of [node, portable]) {
        expect(sha256(data)).toBe(hash('sha256', data, 'base64url'))
        expect(sha1(data)).toBe(hash('sha1', data, 'hex'))
        const hmac = hmacSha256(secret)
        const expected = createHmac('sha256', secret).update(data).digest('base64url')
        expect([hmac(data), hmac(data)]).toEqual([expected, expected])
      }
    }),
    { numRuns: 500 },
  )
})

test('messages of each length around a block are padded, and so are secrets', () => {
  for (let length = 0; length <= 200; length++) {
    const data = 'é'.repeat(length)
    expect(portable.sha256(data)).toBe(node.sha256(data))
    expect(portable.sha1(data)).toBe(node.sha1(data))
    expect(portable.hmacSha256(data)(data)).toBe(node.hmacSha256(data)(data))
  }
})

test('bytes have the hash of the text that they encode', () => {
  for (const { sha256 } of [node, portable])
    expect(sha256(new TextEncoder().encode('žluťoučký'))).toBe(node.sha256('žluťoučký'))
})

test('the text of random bytes has the length and the characters of base64url, and differs', () => {
  for (const { randomText } of [node, portable]) {
    const texts = Array.from({ length: 100 }, () => randomText(12))
    expect(new Set(texts).size).toBe(100)
    expect(texts.filter((each) => !/^[\w-]{16}$/.test(each))).toEqual([])
  }
})

test('texts are encoded alike', () => {
  fc.assert(
    fc.property(text, (data) => {
      expect(Array.from(portable.bytesOf(data))).toEqual(Array.from(node.bytesOf(data)))
      expect(portable.byteLengthOf(data)).toBe(node.byteLengthOf(data))
      expect(portable.utf16BytesOf(data)).toBe(node.utf16BytesOf(data))
    }),
  )
  const ascii = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code)).join('')
  const bytes = node.bytesOf(`--${ascii}--`).subarray(2, -2) // a part of a larger buffer
  expect([node.asciiOf(bytes), portable.asciiOf(bytes)]).toEqual([ascii, ascii])
})

describe('the emitter', () => {
  type Events = { a: [number]; b: [] }
  type Step = readonly [method: string, name: 'a' | 'b' | undefined, listener: number]

  const steps = fc.array(
    fc.tuple(
      fc.constantFrom(
        'on',
        'once',
        'off',
        'prependListener',
        'prependOnceListener',
        'emit',
        'removeAllListeners',
      ),
      fc.constantFrom<'a' | 'b' | undefined>('a', 'b', undefined),
      fc.nat({ max: 2 }),
    ),
    { maxLength: 40 },
  )

  /** Takes steps with three listeners, of which the last removes itself. Returns all that can be seen. */
  function trace(emitter: Emitter<Events>, all: readonly Step[]): unknown[] {
    const seen: unknown[] = []
    const listeners = [
      (...args: unknown[]) => void seen.push(['first', ...args]),
      (...args: unknown[]) => void seen.push(['second', ...args]),
      function third(this: unknown, ...args: unknown[]) {
        seen.push(['third', this === emitter, ...args])
        emitter.off('a', third).on('b', third)
      },
    ] as const
    for (const [i, [method, name, which]] of all.entries()) {
      const listener = listeners[which] ?? listeners[0]
      if (method === 'removeAllListeners') {
        if (name === undefined) emitter.removeAllListeners()
        else emitter.removeAllListeners(name)
      } else if (method === 'emit') seen.push(emitter.emit('a', i))
      else
        seen.push(
          (emitter as unknown as Record<string, (...args: unknown[]) => unknown>)[method]?.(
            name ?? 'a',
            listener,
          ) === emitter,
        )
      for (const each of ['a', 'b'] as const)
        seen.push(
          emitter.listenerCount(each),
          emitter.listenerCount(each, listener),
          emitter.listeners(each).map((one) => listeners.indexOf(one as never)),
          emitter.rawListeners(each).map((one) => listeners.indexOf(one as never)),
        )
      seen.push(emitter.eventNames())
    }
    return seen
  }

  test('is that of Node.js, if there is one, and it works with once of node:events', async () => {
    const events = node.createEmitter<Events>()
    expect(events).toBeInstanceOf(EventEmitter)
    const next = once(events, 'a')
    events.emit('a', 5)
    expect(await next).toEqual([5])
    expect(portable.createEmitter()).not.toBeInstanceOf(EventEmitter)
  })

  test('behaves like that of Node.js, whatever is done to it', () => {
    fc.assert(
      fc.property(steps, (all) => {
        expect(trace(portable.createEmitter<Events>(), all)).toEqual(trace(node.createEmitter<Events>(), all))
      }),
      { numRuns: 500 },
    )
  })

  test('throws an error that has no listener', () => {
    for (const { createEmitter } of [node, portable])
      expect(() => createEmitter<{ error: [Error] }>().emit('error', new Error('lost'))).toThrow('lost')
  })

  test('accepts the number of listeners that Node.js does not warn of', () => {
    for (const { createEmitter } of [node, portable]) {
      expect(createEmitter().getMaxListeners()).toBe(10)
      expect(createEmitter().setMaxListeners(50).getMaxListeners()).toBe(50)
    }
  })
})

describe('an isolate', () => {
  const versions = { node: '22.19.0' }

  test.each([
    ['Node.js', {}, false],
    ['Deno 1, which has no process', { process: undefined, Deno: {} }, false],
    ['Bun', { process: undefined, Bun: {} }, false],
    ['Cloudflare Workers', { process: undefined, WebSocketPair: class {} }, true],
    ['Cloudflare Workers with nodejs_compat', { process: { versions }, WebSocketPair: class {} }, true],
    ['the edge runtimes of Vercel and Next.js', { process: { env: {} }, EdgeRuntime: 'edge-runtime' }, true],
    ['an unknown platform', { process: undefined }, true],
  ])('%s', (_platform, globals, expected) => {
    expect(platformWith(globals).isIsolate()).toBe(expected)
  })

  test('can be assumed', () => {
    node.assumeIsolate(true)
    expect(node.isIsolate()).toBe(true)
    node.assumeIsolate(undefined)
    expect(node.isIsolate()).toBe(false)
  })
})

test('a platform that throws for what it does not have gets the portable versions', () => {
  const unsupported = () => {
    throw new Error('A Node.js API is used which is not supported in the Edge Runtime')
  }
  const warn = jest.spyOn(console, 'warn').mockImplementation(() => undefined)
  const process = { env: {}, getBuiltinModule: unsupported, emitWarning: unsupported }
  const edge = platformWith({ process, Buffer: undefined, EdgeRuntime: 'edge-runtime' })
  expect(edge.sha256('value:ada')).toBe(node.sha256('value:ada'))
  expect(edge.createEmitter()).not.toBeInstanceOf(EventEmitter)
  edge.emitWarning('headgate: this happened.', 'HEADGATE_NO_BODY')
  expect(warn.mock.calls).toEqual([['[HEADGATE_NO_BODY] headgate: this happened.']])
})

test('without diagnostics, a channel has no subscribers', () => {
  const channel = portable.channel('headgate:decision')
  expect(channel.hasSubscribers).toBe(false)
  channel.publish({})
})

describe('the environment', () => {
  const env = { DEBUG: 'headgate' }
  const deno = (state: string) => ({ permissions: { querySync: () => ({ state }) } })

  test.each([
    ['of Node.js is read', { process: { env } }, 'headgate'],
    ['of Deno is read with the permission', { process: { env }, Deno: deno('granted') }, 'headgate'],
    ['of Deno is not read if that would ask for it', { process: { env }, Deno: deno('prompt') }, undefined],
    ['may be missing', { process: undefined }, undefined],
  ])('%s', (_case, globals, expected) => {
    expect(platformWith(globals).environment('DEBUG')).toBe(expected)
  })
})
