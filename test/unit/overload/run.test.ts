import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { OverloadError, type OverloadGuard, overloadGuard } from 'headgate/http'
import { ProcessGuard } from '../../../src/overload/process-guard.js'
import type { RunOptions } from '../../../src/overload/run-options.js'

const one = { minLimit: 1, maxLimit: 1, maxWait: 0 } as const

/** A call that ends when it is told to. */
function openCall<T>(value: T) {
  let end: () => void = () => undefined
  const ended = new Promise<T>((resolve) => {
    end = () => resolve(value)
  })
  return { call: () => ended, end }
}

test('run returns what the call returns, and holds its place until then', async () => {
  const guard = overloadGuard(one)
  const { call, end } = openCall('rows')
  const running = guard.run(call)
  await expect(guard.run(() => 'never')).rejects.toMatchObject({
    name: 'OverloadError',
    message: expect.stringMatching(/^overloadGuard: too many calls at once\. Try again in \d+ ms\.$/),
    retryAfterMs: expect.any(Number),
  })
  await expect(guard.run(() => 'never')).rejects.toBeInstanceOf(OverloadError)
  expect(guard.status()).toMatchObject({ running: 1, waiting: 0, deniedShare: 2 / 3 })
  end()
  expect(await running).toBe('rows')
  expect(guard.status().running).toBe(0)
  expect(await guard.run(() => 7)).toBe(7)
})

test.each<[string, () => never | Promise<never>]>([
  ['throws', () => fail()],
  ['rejects', async () => fail()],
])('a call that %s rejects with its own error, and gives its place back', async (_how, call) => {
  const guard = overloadGuard(one)
  for (let i = 0; i < 3; i++) await expect(guard.run(call)).rejects.toThrow('no connection')
  expect(guard.status()).toMatchObject({ running: 0, deniedShare: 0 })
})

function fail(): never {
  throw new Error('no connection')
}

test('calls that fail later than others succeed are compared with these', async () => {
  const clock = { ms: 1000 }
  const now = jest.spyOn(performance, 'now').mockImplementation(() => clock.ms)
  const ended = jest.spyOn(ProcessGuard.prototype, 'end')
  const guard = overloadGuard({ minLimit: 1, maxLimit: 1, maxWait: 0 })
  const after = (tookMs: number) => () => {
    clock.ms += tookMs
  }
  for (let i = 0; i < 31; i++) await guard.run(after(10))
  for (const tookMs of [5, 50]) {
    const failing = () => {
      after(tookMs)()
      fail()
    }
    await expect(guard.run(failing)).rejects.toThrow('no connection')
  }
  const classes = ended.mock.calls.map(([, routeClass]) => routeClass)
  ended.mockRestore()
  now.mockRestore()
  expect(classes).toEqual([...Array(31).fill('calls'), 'calls failed', 'calls'])
})

test('a call that waits when the mode changes to report is not denied', async () => {
  const guard = overloadGuard({ ...one, maxWait: '50ms' })
  const { call, end } = openCall('first')
  const calls = [guard.run(call), guard.run(() => 'second')]
  guard.limiter.mode = 'report'
  expect(await calls[1]).toBe('second')
  end()
  expect(await calls[0]).toBe('first')
})

test('calls wait for a place, in order', async () => {
  const guard = overloadGuard({ ...one, maxWait: '10s' })
  const { call, end } = openCall('first')
  const order: string[] = []
  const note = (name: string) => () => order.push(name)
  const calls = [guard.run(call), guard.run(note('second')), guard.run(note('third'))]
  expect(guard.status()).toMatchObject({ running: 1, waiting: 2 })
  end()
  await Promise.all(calls)
  expect(order).toEqual(['second', 'third'])
})

test('of those that wait, critical calls go first and bulk calls last', async () => {
  const guard = overloadGuard({ ...one, maxWait: '10s' })
  const { call, end } = openCall('first')
  const first = guard.run(call)
  const order: string[] = []
  const calls = (['bulk', 'default', 'critical'] as const).map((priority) =>
    guard.run(() => order.push(priority), { priority }),
  )
  end()
  await Promise.all([first, ...calls])
  expect(order).toEqual(['critical', 'default', 'bulk'])
})

test('a signal that aborts ends the wait, and the call gets it', async () => {
  const guard = overloadGuard({ ...one, maxWait: '10s' })
  const { call, end } = openCall('first')
  const first = guard.run(call)
  const controller = new AbortController()
  const waiting = guard.run(() => 'never', { signal: controller.signal })
  expect(guard.status().waiting).toBe(1)
  controller.abort(new Error('no longer needed'))
  await expect(waiting).rejects.toThrow('no longer needed')
  expect(guard.status().waiting).toBe(0)
  await expect(guard.run(() => 'never', { signal: controller.signal })).rejects.toThrow('no longer needed')
  expect(guard.status()).toMatchObject({ running: 1, waiting: 0 })
  end()
  await first
  const { signal } = new AbortController()
  expect(await guard.run((given) => given, { signal })).toBe(signal)
  expect(await guard.run((given) => given)).toBeUndefined()
})

test('calls are compared within an operation, so that slow ones among fast ones are no overload', async () => {
  const limitAfter = async (operation: { operation?: string }) => {
    jest.useFakeTimers()
    try {
      const guard = overloadGuard({ maxWait: 0, maxLimit: 22 })
      const calls = async (ms: number, options: object = {}) => {
        const call = () => guard.run(() => new Promise((resolve) => setTimeout(resolve, ms)), options)
        const all = Promise.allSettled(Array.from({ length: 20 }, call))
        await jest.advanceTimersByTimeAsync(ms)
        await all
      }
      for (let i = 0; i < 30; i++) await calls(i % 2 === 0 ? 10 : 500, i % 2 === 0 ? {} : operation)
      const { limit } = guard.status()
      for (let i = 0; i < 5; i++) await calls(500, operation)
      return guard.status().limit - limit
    } finally {
      jest.useRealTimers()
    }
  }
  expect(await limitAfter({})).toBeLessThan(0)
  expect(await limitAfter({ operation: 'report' })).toBeGreaterThanOrEqual(0)
})

test('an abort while the call runs is the affair of the call', async () => {
  const guard = overloadGuard(one)
  const controller = new AbortController()
  const { call, end } = openCall('done')
  const running = guard.run(call, { signal: controller.signal })
  controller.abort()
  expect(guard.status().running).toBe(1)
  end()
  expect(await running).toBe('done')
})

test('a guard that closes denies the calls that wait', async () => {
  const guard = overloadGuard({ ...one, maxWait: '10s' })
  const { call, end } = openCall('first')
  const first = guard.run(call)
  const denied = expect(guard.run(() => 'never')).rejects.toBeInstanceOf(OverloadError)
  await guard.close()
  await denied
  end()
  expect(await first).toBe('first')
})

test('in report mode all calls run, and those that would be denied are reported', async () => {
  const guard = overloadGuard({ ...one, mode: 'report' })
  const denied: unknown[] = []
  guard.limiter.events.on('denied', ({ allowed, source }, subject) => denied.push([allowed, source, subject]))
  const { call, end } = openCall('first')
  const first = guard.run(call)
  expect(await guard.run(() => 'second', { client: 'ada' })).toBe('second')
  end()
  await first
  expect(denied).toEqual([[false, 'overload', { client: 'ada' }]])
  expect(guard.status().running).toBe(0)
})

const MODES = ['enforce', 'report'] as const

/** Reports of the verdicts on calls that come at once and each take 300 ms, of which one may run. */
async function verdictsIn(
  mode: (typeof MODES)[number],
  call: (guard: OverloadGuard) => Promise<unknown>,
): Promise<boolean[]> {
  jest.useFakeTimers()
  try {
    const guard = overloadGuard({ minLimit: 1, maxLimit: 1, mode })
    const verdicts: boolean[] = []
    guard.limiter.events.on('decision', ({ allowed }) => verdicts.push(allowed))
    const calls = Promise.allSettled(Array.from({ length: 12 }, () => call(guard)))
    await jest.advanceTimersByTimeAsync(1000)
    await calls
    expect(guard.status()).toMatchObject({ running: 0, waiting: 0 })
    return verdicts
  } finally {
    jest.useRealTimers()
  }
}

const pause = () => new Promise((resolve) => setTimeout(resolve, 300))

test.each(MODES)('calls that wait for too long are reported as denied in mode %s', async (mode) => {
  expect(await verdictsIn(mode, (guard) => guard.run(pause))).toEqual([true, ...Array(11).fill(false)])
})

test.each(MODES)('charges that wait for too long are reported as denied in mode %s', async (mode) => {
  const charge = async ({ limiter }: OverloadGuard) => {
    const decision = await limiter.charge(new IncomingMessage(new Socket()))
    await pause()
    await limiter.release(decision)
  }
  expect(await verdictsIn(mode, charge)).toEqual([true, ...Array(11).fill(false)])
})

test.each<[string, (guard: OverloadGuard) => Promise<unknown>]>([
  ['calls', (guard) => guard.run(() => 'done')],
  [
    'charges',
    async ({ limiter }) => limiter.release(await limiter.charge(new IncomingMessage(new Socket()))),
  ],
])(
  'in report mode, %s that end before they would be denied are reported as admitted',
  async (_what, call) => {
    const guard = overloadGuard({ ...one, maxWait: '10s', mode: 'report' })
    const verdicts: boolean[] = []
    guard.limiter.events.on('decision', ({ allowed }) => verdicts.push(allowed))
    const { call: first, end } = openCall('first')
    const running = guard.run(first)
    await call(guard)
    expect([verdicts, guard.status()]).toMatchObject([[true, true], { running: 1, waiting: 0 }])
    end()
    await running
    expect(guard.status()).toMatchObject({ running: 0, deniedShare: 0 })
  },
)

test('valid options of any kind of object are read', async () => {
  const guard = overloadGuard(one)
  const aborted = AbortSignal.abort(new Error('too late'))
  const kinds: RunOptions[] = [
    { signal: aborted, tenant: 'acme', client: 'ada', priority: 'bulk', operation: 'report' },
    Object.create({ signal: aborted }),
    Object.assign(Object.create(null), { signal: aborted }),
  ]
  for (const options of kinds) await expect(guard.run(() => 'never', options)).rejects.toThrow('too late')
})

const CLIENT_KIND = 'a string of at most 1024 characters, without NUL or unpaired surrogates'

test.each<[unknown[], string]>([
  [[() => 1, Object.create({ priority: 'urgent' })], "priority must be one of 'bulk', 'default', 'critical'"],
  [
    [() => 1, Object.defineProperty({}, 'priority', { value: 'urgent' })],
    "priority must be one of 'bulk', 'default', 'critical'",
  ],
  [[() => 1, []], "Write guard.run(call, { signal, priority: 'critical' })."],
  [[], 'overloadGuard: the first argument of run must be a function, got undefined.'],
  [[Promise.resolve()], 'must be a function, got an object. Write guard.run(() => query()).'],
  [
    [() => 1, { priority: 'urgent' }],
    "overloadGuard: run: priority must be one of 'bulk', 'default', 'critical'",
  ],
  [[() => 1, { signal: new AbortController() }], 'Did you mean signal: controller.signal?'],
  ...[7, 'a\0b', '\ud800', 'a'.repeat(1025)].map((client): [unknown[], string] => [
    [() => 1, { client }],
    `client must be ${CLIENT_KIND}, got a ${typeof client}`,
  ]),
  [[() => 1, { tenant: 7 }], 'tenant must be a string of at most 256 characters'],
  [
    [() => 1, { operation: 7 }],
    "operation must be a string of at most 256 characters, got a number. Write operation: 'report'.",
  ],
  [[() => 1, { operation: 'a'.repeat(257) }], 'operation must be a string of at most 256 characters'],
  [[() => 1, { timeout: 7 }], 'there is no option "timeout"'],
  [[() => 1, null], "got null. Write guard.run(call, { signal, priority: 'critical' })."],
])('run(%p) rejects with a TypeError with the fix', async (args, says) => {
  const guard = overloadGuard()
  const run = guard.run as (...given: unknown[]) => Promise<unknown>
  await expect(run(...args)).rejects.toThrow(TypeError)
  await expect(run(...args)).rejects.toThrow(says)
  expect(guard.status().running).toBe(0)
})

test.each([
  ['a burst', 0],
  ['a burst after one call in each 100 ms', 50],
])('%s that ends within maxWait is not denied', async (_name, before) => {
  jest.useFakeTimers()
  try {
    const guard = overloadGuard({ minLimit: 5, maxLimit: 5, maxWait: '2s' })
    const query = () => new Promise<void>((resolve) => setTimeout(resolve, 50))
    const outcomes: Promise<unknown>[] = []
    const call = () =>
      outcomes.push(
        guard.run(query).then(
          () => 'served',
          () => 'denied',
        ),
      )
    for (let i = 0; i < before; i++) {
      call()
      await jest.advanceTimersByTimeAsync(100)
    }
    for (let i = 0; i < 150; i++) call()
    await jest.advanceTimersByTimeAsync(2000)
    expect(new Set(await Promise.all(outcomes))).toEqual(new Set(['served']))
  } finally {
    jest.useRealTimers()
  }
})
