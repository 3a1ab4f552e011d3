import { ProcessReports } from '../../../../src/dashboard/shared/process-reports.js'
import { thisProcess } from '../../../../src/dashboard/shared/this-process.js'
import { processes, type TestProcess, visit } from './processes.js'
import type { SharedDocuments } from './shared-documents.js'

const START_MS = 1_790_000_000_000
const SECOND_MS = 1000
const MINUTE_MS = 60_000

let shared: SharedDocuments
let startProcess: ReturnType<typeof processes>['start']
let pass: ReturnType<typeof processes>['pass']
let skip: (ms: number) => void
let end: () => void

beforeEach(() => {
  ;({ shared, start: startProcess, pass, skip, end } = processes(START_MS))
})
afterEach(() => {
  end()
  jest.useRealTimers()
})

test('a process reads what the others wrote, and not what it wrote itself', async () => {
  const [one, two] = [startProcess('one'), startProcess('two')]
  await one.charge(1)
  await two.charge(2, 'bob')
  await pass(2 * SECOND_MS, [one, two], [one, two])
  expect([one.states(), two.states()]).toEqual([{ two: 'alive' }, { one: 'alive' }])
  expect([one.allowed(), two.allowed()]).toEqual([3, 3])
  expect([one.group.problem(), two.group.problem()]).toEqual([undefined, undefined])
})

test('a process never reads its own report back, and notices that it was lost or overwritten', async () => {
  const [one, two] = [startProcess('one'), startProcess('two')]
  const own = 'hg:dashboard:processes/0'
  await one.charge(1)
  await pass(10 * SECOND_MS, [one], [one])
  expect(shared.sent.filter((key) => key === own)).toEqual([])
  for (const change of [() => shared.texts.delete(own), () => shared.texts.set(own, '')]) {
    change()
    await pass(4 * SECOND_MS, [one, two], [two])
    expect([two.states(), two.allowed()]).toEqual([{ one: 'alive' }, 1])
  }
})

test('a process reports every ten seconds, and every two while a page is open anywhere', async () => {
  const [one, two] = [startProcess('one'), startProcess('two')]
  const written = () =>
    shared.written.filter(({ key }) => key.includes('/processes/') || key.includes('processes/')).length
  await pass(MINUTE_MS, [one, two])
  expect(written()).toBe(12)
  const before = written()
  await pass(10 * SECOND_MS, [one, two], [one])
  await pass(10 * SECOND_MS, [one, two], [one])
  expect(written() - before).toBeGreaterThanOrEqual(16)
  await pass(20 * SECOND_MS, [one, two])
  const closed = written()
  await pass(MINUTE_MS, [one, two])
  expect(written() - closed).toBe(12)
})

test('a process that vanishes is gone within five seconds while a page is open, and its requests stay in the chart', async () => {
  const [one, two] = [startProcess('one'), startProcess('two')]
  await two.charge(3)
  await pass(10 * SECOND_MS, [one, two], [one])
  expect(one.states()).toEqual({ two: 'alive' })
  const states: (string | undefined)[] = []
  for (let second = 0; second < 5; second++) {
    await pass(SECOND_MS, second % 2 === 0 ? [one] : [], [one], SECOND_MS)
    states.push(one.states().two)
  }
  expect(states).toEqual(['alive', 'alive', 'gone', 'gone', 'gone'])
  expect(one.allowed()).toBe(3)
  const [member] = one.group.members()
  expect(member?.reports?.[0]).toMatchObject({
    limits: [{ allowed: 3 }], // of the last minute
    near: [],
    store: { state: 'closed' },
  })
  await pass(80 * SECOND_MS, [one], [one], 20 * SECOND_MS)
  expect(one.group.members()[0]?.reports?.[0]?.limits).toEqual([])
  await pass(12 * MINUTE_MS, [one], [one], 20 * SECOND_MS)
  expect(one.allowed()).toBe(3)
  await pass(3 * MINUTE_MS, [one], [one], 20 * SECOND_MS)
  expect([one.allowed(), one.states()]).toEqual([0, { two: 'gone' }])
  await pass(46 * MINUTE_MS, [one], [], 20 * SECOND_MS)
  expect(one.states()).toEqual({})
  expect(shared.of('processes/').filter((text) => text !== '')).toHaveLength(1)
})

test('a request every five seconds hides no process that vanishes, and has none report more often', async () => {
  const [one, two] = [startProcess('one'), startProcess('two')]
  await pass(10 * SECOND_MS, [one, two])
  for (let i = 0; i < 12; i++) {
    await one.group.refresh('request')
    await pass(5 * SECOND_MS, [one], [], 5 * SECOND_MS)
  }
  expect(one.states()).toEqual({ two: 'gone' })
  expect(shared.of('watched')).toEqual([])
})

test('a process that is closed says so, and is not gone', async () => {
  const [one, two] = [startProcess('one'), startProcess('two')]
  await two.charge(3)
  await pass(4 * SECOND_MS, [one, two], [one])
  await two.group.close()
  await pass(MINUTE_MS, [one], [one])
  expect([one.states(), one.allowed()]).toEqual([{ two: 'closed' }, 3])
  expect(one.events()).toEqual([
    ['process-seen', 'web (pid 1) started to report'],
    ['process-seen', 'web (pid 1) started to report'],
    ['process-closed', 'web (pid 1) was closed'],
  ])
})

test('that a process has gone is logged once, although four others see it', async () => {
  const others = ['a', 'b', 'c', 'd'].map((id) => startProcess(id))
  const lost = startProcess('lost', { host: 'lost' })
  await pass(20 * SECOND_MS, [...others, lost])
  await pass(5 * MINUTE_MS, others)
  const gone = others[0]?.events().filter(([kind]) => kind === 'process-gone')
  expect(gone).toEqual([
    [
      'process-gone',
      expect.stringMatching(/^lost \(pid 1\) has not reported since \{\d+\}, and was not closed$/),
    ],
  ])
})

test.each([2, 5, 20, 300])(
  'once the store goes on after %i s, or this process does, no other counts as gone before it has reported',
  async (seconds) => {
    const [one, two] = [startProcess('one'), startProcess('two')]
    const readFor = async (count: number) => {
      const states: (string | undefined)[] = []
      for (let second = 0; second < count; second++) {
        await pass(SECOND_MS, [], [one], SECOND_MS)
        states.push(one.states().two)
      }
      return states
    }
    await pass(10 * SECOND_MS, [one, two], [one])
    expect(await readFor(1)).toEqual(['alive'])
    shared.set('fail')
    await pass(seconds * SECOND_MS, [one, two], [one], SECOND_MS)
    expect(one.group.problem()).toBe('redis: connection lost')
    shared.set('none')
    expect(await readFor(seconds > 2 ? 3 : 1)).toEqual(Array(seconds > 2 ? 3 : 1).fill('alive'))
    await pass(10 * SECOND_MS, [one, two], [one])
    skip(seconds * SECOND_MS) // suspended
    expect(await readFor(seconds > 2 ? 3 : 1)).toEqual(Array(seconds > 2 ? 3 : 1).fill('alive'))
    await pass(10 * SECOND_MS, [one, two], [one])
    expect(one.events().filter(([kind]) => kind === 'process-gone')).toEqual([])
  },
)

test('a report that is due is not put off for a tick that comes a moment early', async () => {
  const one = startProcess('one')
  await pass(4 * SECOND_MS, [one], [one])
  const before = shared.written.filter(({ key }) => key.includes('processes/')).length
  for (let i = 0; i < 10; i++) {
    skip(i % 2 === 0 ? 1990 : 2010)
    await one.group.tick()
    await one.group.refresh()
  }
  expect(shared.written.filter(({ key }) => key.includes('processes/')).length - before).toBe(10)
})

describe('the steps that a killed process could not add', () => {
  const totals = async (process: TestProcess) => {
    const steps = (await process.group.histories.get('api')?.steps()) ?? []
    return steps.map(({ allowed, denied }) => allowed + denied)
  }

  test('are added once, although four others notice it', async () => {
    const others = ['a', 'b', 'c', 'd'].map((id) => startProcess(id))
    const killed = startProcess('killed')
    const all = [...others, killed]
    for (let step = 0; step < 2; step++) {
      await killed.charge(10 + step)
      await others[0]?.charge(1)
      await pass(5 * MINUTE_MS, all, [], 10 * SECOND_MS)
    }
    await killed.charge(12)
    await pass(MINUTE_MS, all, [], 10 * SECOND_MS)
    expect(await totals(others[0] as TestProcess)).toEqual([11, 12])
    await pass(10 * MINUTE_MS, others, [], 10 * SECOND_MS)
    expect(await totals(others[0] as TestProcess)).toEqual([11, 12, 12, 0])
    await pass(10 * MINUTE_MS, others, [], 10 * SECOND_MS)
    expect(await totals(others[0] as TestProcess)).toEqual([11, 12, 12, 0, 0, 0])
    expect(
      shared.of('processes/').filter((text) => text.includes('"killed"') && text.includes('\n')),
    ).toEqual([])
  })

  test('are added although replies are lost', async () => {
    const [one, killed] = [startProcess('one'), startProcess('killed')]
    await killed.charge(7)
    await pass(20 * SECOND_MS, [one, killed])
    await pass(MINUTE_MS, [one])
    shared.set('lose')
    await pass(2 * MINUTE_MS, [one])
    shared.set('none')
    await pass(2 * MINUTE_MS, [one])
    const [first] = await totals(one)
    expect(first).toBe(7)
  })

  test('are added by a process that starts after all have ended, and not for one that is suspended briefly', async () => {
    const [killed, suspended] = [startProcess('killed'), startProcess('suspended')]
    await killed.charge(7)
    await suspended.charge(3)
    await pass(20 * SECOND_MS, [killed, suspended])
    skip(30 * SECOND_MS)
    const late = startProcess('late')
    await pass(30 * SECOND_MS, [late])
    expect(await totals(late)).toEqual([])
    await suspended.charge(2)
    await pass(10 * MINUTE_MS, [late, suspended], [], 10 * SECOND_MS)
    expect((await totals(late))[0]).toBe(12)
  })
})

test.each([3_600_000, -3_600_000])(
  'a process whose clock is %i ms off lives, and its requests are at the right time',
  async (aheadMs) => {
    const [one, wrong] = [startProcess('one'), startProcess('wrong', { aheadMs })]
    await pass(20 * SECOND_MS, [one, wrong], [one])
    await wrong.charge(4)
    await pass(20 * SECOND_MS, [one, wrong], [one])
    expect([one.states(), one.allowed()]).toEqual([{ wrong: 'alive' }, 4])
    expect(shared.of('processes/').filter((text) => text.includes('"wrong"'))).toHaveLength(1)
    await pass(MINUTE_MS, [one], [one])
    expect(one.states()).toEqual({ wrong: 'gone' })
  },
)

test('the history of a process whose clock was a day ahead goes on once it is set right', async () => {
  const [one, wrong] = [startProcess('one'), startProcess('wrong', { aheadMs: 24 * 60 * MINUTE_MS })]
  const fiveMinutes = () => pass(5 * MINUTE_MS, [one, wrong], [], 10 * SECOND_MS)
  await wrong.charge(3)
  await fiveMinutes()
  await fiveMinutes()
  wrong.setClock(0)
  await fiveMinutes()
  await wrong.charge(2)
  await fiveMinutes()
  await fiveMinutes()
  const history = one.group.histories.get('api')
  const steps = (await history?.steps())?.filter(
    ({ step }) => step * 5 * MINUTE_MS < START_MS + 60 * MINUTE_MS,
  )
  expect(steps?.map(({ allowed }) => allowed)).toEqual([0, 0, 0, 2, 0])
  expect((await history?.demands())?.flatMap(({ demands }) => demands)).toMatchObject([{ peak: 5 }])
})

test('a store that fails leaves the figures of this process alone, and says why', async () => {
  const [one, two] = [startProcess('one'), startProcess('two')]
  await pass(4 * SECOND_MS, [one, two], [one])
  shared.set('fail')
  await one.group.refresh()
  expect([one.group.problem(), one.states()]).toEqual(['redis: connection lost', {}])
  shared.set('none')
  await pass(4 * SECOND_MS, [one, two], [one])
  expect([one.group.problem(), one.states()]).toEqual([undefined, { two: 'alive' }])
})

test('a store that hangs holds a call up for 800 ms at most, and gets no further calls of its kind', async () => {
  const one = startProcess('one')
  await pass(4 * SECOND_MS, [one], [one])
  jest.useFakeTimers({ doNotFake: ['Date'] })
  shared.set('hang')
  shared.calls.length = 0
  for (let i = 0; i < 5; i++) {
    skip(10 * SECOND_MS)
    const done = Promise.all([one.group.refresh(), one.group.tick()])
    await jest.advanceTimersByTimeAsync(5000)
    await done
  }
  expect(shared.calls.length).toBeLessThanOrEqual(5)
  expect(one.group.problem()).toBe('redis: no reply within 800 ms')
  shared.set('none')
  await Promise.all([one.group.refresh(), one.group.tick()])
  skip(10 * SECOND_MS)
  await one.group.refresh()
  await one.group.tick()
  expect(one.group.problem()).toBeUndefined()
})

test('a store that hangs delays the frame of a page by 800 ms at most', async () => {
  const one = startProcess('one')
  await pass(10 * SECOND_MS, [one])
  jest.useFakeTimers({ doNotFake: ['Date'] })
  shared.set('hang')
  const done = jest.fn()
  const refreshed = one.group.refresh().then(done)
  await jest.advanceTimersByTimeAsync(810)
  expect(done).toHaveBeenCalledTimes(1)
  shared.set('none')
  await refreshed
})

test('a write whose reply is lost leaves one document, and one event', async () => {
  const one = startProcess('one')
  shared.set('lose')
  await pass(4 * SECOND_MS, [one])
  shared.set('none')
  await pass(20 * SECOND_MS, [one])
  expect(shared.of('processes/')).toHaveLength(1)
  expect(one.events()).toEqual([['process-seen', 'web (pid 1) started to report']])
})

test('values of other programs stay as they are, and documents go elsewhere', async () => {
  const foreign = ['hello', '{"process":"of another program"}', '[]']
  foreign.forEach((text, i) => void shared.texts.set(`hg:dashboard:processes/${i}`, text))
  shared.damaged.add('hg:dashboard:processes/3')
  shared.texts.set('hg:dashboard:events', 'hello')
  shared.texts.set('hg:dashboard:watched', 'hello')
  const [one, two] = [startProcess('one'), startProcess('two')]
  await pass(20 * SECOND_MS, [one, two], [one])
  expect(foreign.map((_, i) => shared.texts.get(`hg:dashboard:processes/${i}`))).toEqual(foreign)
  expect([shared.texts.get('hg:dashboard:events'), shared.texts.get('hg:dashboard:watched')]).toEqual([
    'hello',
    'hello',
  ])
  expect(one.group.recordProblem()).toContain('which stays as it is')
  expect(one.events().length).toBeGreaterThan(0)
})

test('the figures of another format are left out, and its process is listed', async () => {
  const one = startProcess('one')
  const two = startProcess('two')
  await pass(4 * SECOND_MS, [one, two], [one])
  const [[key = '', text = ''] = []] = [...shared.texts].filter(
    ([key, each]) => key.includes('processes/') && each.includes('"two"'),
  )
  shared.texts.set(key, text.replace('"headgate":1', '"headgate":9'))
  await one.group.refresh()
  expect(one.group.members()).toMatchObject([{ header: { id: 'two' }, state: 'alive' }])
  expect(one.group.members()[0]).not.toHaveProperty('reports')
})

describe('the clients of a process', () => {
  const clientsKey = 'hg:dashboard:clients/0'
  /** How often each client was denied by other processes. */
  const deniedBy = (process: TestProcess) => {
    const reports = process.group.members().flatMap(({ reports = [] }) => reports)
    return reports.flatMap(({ denied }) => denied.map((client) => client.denied))
  }

  test('are reported as soon as denials begin or grow, and otherwise every six seconds', async () => {
    const [one, two] = [startProcess('one'), startProcess('two')]
    await pass(10 * SECOND_MS, [one, two], [one])
    const seen: number[][] = []
    for (const times of [6, 1, 10, 1, 0, 1]) {
      await two.charge(times)
      await pass(2 * SECOND_MS, [two, one], [one])
      seen.push(deniedBy(one))
    }
    expect(seen).toEqual([[1], [2], [12], [12], [12], [14]])
  })

  test('are known to a process that starts after they were reported', async () => {
    const two = startProcess('two')
    await two.charge(105)
    await pass(10 * SECOND_MS, [two], [two])
    await two.charge(1)
    await pass(2 * SECOND_MS, [two], [two])
    const late = startProcess('late')
    await late.group.refresh()
    expect(deniedBy(late)).toEqual([100])
    await pass(6 * SECOND_MS, [two], [late])
    expect(deniedBy(late)).toEqual([101])
  })

  test.each([
    ['lost', () => shared.texts.delete(clientsKey)],
    ['emptied', () => shared.texts.set(clientsKey, '')],
    ['of another program', () => shared.texts.set(clientsKey, 'hello')],
    ['of a later format', () => shared.texts.set(clientsKey, '{"headgate":9}')],
  ])('are named while their document is %s, and are reported again at once', async (_, change) => {
    const [two, one] = [startProcess('two'), startProcess('one')]
    await two.charge(45)
    await pass(10 * SECOND_MS, [two, one], [one])
    const named = one.sentence()
    expect(named).toMatch(/^\S+ has been at its limit of 5 per 1h since \{\d+\}: /)
    change()
    const late = startProcess('late')
    await Promise.all([one.group.refresh(), late.group.refresh()])
    expect([one.allowed(), one.sentence()]).toEqual([5, named])
    expect([late.allowed(), late.sentence()]).toEqual([
      5,
      `${named.replace(/^.* (?=since)/, 'Requests have been denied ')}; who sends them is not known yet`,
    ])
    await pass(2 * SECOND_MS, [two], [late])
    expect(late.sentence().split(': ')[0]).toBe(named.split(': ')[0])
  })

  test('are not named while only few of them are known', async () => {
    const [two, one] = [startProcess('two'), startProcess('one')]
    await two.charge(45)
    await one.charge(25, 'bob')
    await pass(10 * SECOND_MS, [two, one])
    shared.texts.delete(clientsKey)
    const late = startProcess('late')
    await late.group.refresh()
    expect(late.sentence()).toMatch(/^Requests have been denied .*; who sends them is not known yet$/)
    await pass(2 * SECOND_MS, [two], [late])
    expect(late.sentence()).toMatch(/^\S+ and \S+ have been at their limit /)
  })

  test.each(['clients', 'processes'])(
    'are written at once by a page that finds that its own %s are lost',
    async (kind) => {
      const one = startProcess('one')
      await one.charge(45)
      await pass(10 * SECOND_MS, [one], [one])
      shared.texts.delete(`hg:dashboard:${kind}/0`)
      await one.group.refresh()
      expect(shared.of(`${kind}/`)).toEqual([expect.stringContaining('"one"')])
      shared.texts.delete(`hg:dashboard:${kind}/0`)
      await one.group.close()
      shared.texts.delete(`hg:dashboard:${kind}/0`)
      await one.group.refresh()
      expect(shared.of(`${kind}/`)).toEqual([])
    },
  )

  test('are written in one round trip, with the figures', async () => {
    const { group } = startProcess('one')
    const reports = new ProcessReports(shared.documents, 'hg', () => true)
    const header = { ...thisProcess(), dashboard: 0, atMs: START_MS, everyMs: 2000 }
    await reports.write(header, group.own, 1)
    shared.set('hang')
    let isDone = false
    const written = reports.write({ ...header, atMs: START_MS + 10_000 }, group.own, 1).then(() => {
      isDone = true
    })
    shared.set('hang') // replies to all that has been sent
    await new Promise(setImmediate)
    expect([isDone, shared.written.slice(-2).map(({ key }) => key)]).toEqual([
      true,
      ['hg:dashboard:clients/0', 'hg:dashboard:processes/0'],
    ])
    await written
  })

  test('stay for a quarter of an hour after it has gone, and are not taken for those of its successor', async () => {
    const [two, one] = [startProcess('two'), startProcess('one')]
    await two.charge(7)
    await pass(10 * SECOND_MS, [two, one], [one])
    const next = startProcess('next')
    await pass(14 * MINUTE_MS, [one, next], [one], 20 * SECOND_MS)
    expect(deniedBy(one)).toEqual([2])
    await pass(2 * MINUTE_MS, [one, next], [one], 20 * SECOND_MS)
    expect(deniedBy(one)).toEqual([])
    expect(shared.of('clients/').filter((text) => text.includes('"two"'))).toEqual([])
  })
})

test('a store that loses all documents hides no process that lives', async () => {
  const [one, two] = [startProcess('one'), startProcess('two')]
  await two.charge(45)
  await pass(10 * SECOND_MS, [one, two], [one])
  const named = one.sentence()
  shared.texts.clear()
  await one.group.refresh()
  expect([one.states(), one.sentence()]).toEqual([{ two: 'alive' }, named])
  await pass(10 * SECOND_MS, [one], [one])
  expect(one.states()).toEqual({}) // it has ended, and nothing is left of it
})

test('a process that last said that its store is late counts as gone only after half a minute', async () => {
  const [one, two] = [startProcess('one'), startProcess('two')]
  await pass(10 * SECOND_MS, [one, two], [one])
  two.watch.limiter.events.emit('storeState', 'open', undefined)
  await pass(4 * SECOND_MS, [one, two], [one])
  await pass(28 * SECOND_MS, [one], [one])
  expect(one.states()).toEqual({ two: 'alive' })
  await pass(10 * SECOND_MS, [one], [one])
  expect(one.states()).toEqual({ two: 'gone' })
})

test('no process counts as gone while the store of this one does not reply, or is late', async () => {
  const [one, two] = [startProcess('one'), startProcess('two')]
  await pass(10 * SECOND_MS, [one, two], [one])
  one.watch.limiter.events.emit('storeState', 'open', undefined)
  await pass(MINUTE_MS, [one], [one])
  expect(one.states()).toEqual({ two: 'alive' })
  one.watch.limiter.events.emit('storeState', 'closed', undefined)
  await pass(10 * SECOND_MS, [one], [one])
  expect(one.states()).toEqual({ two: 'gone' })
})

test('documents that the store loses are written again', async () => {
  const [one, two] = [startProcess('one'), startProcess('two')]
  await pass(4 * SECOND_MS, [one, two], [one])
  shared.texts.clear()
  await pass(20 * SECOND_MS, [one, two], [one])
  expect(one.states()).toEqual({ two: 'alive' })
  expect(shared.of('processes/')).toHaveLength(2)
})

test('two dashboards of one process have a document each', async () => {
  const [one, two] = [startProcess('one'), startProcess('one', { dashboard: 1 })]
  await pass(20 * SECOND_MS, [one, two])
  expect(shared.of('processes/')).toHaveLength(2)
})

test('100 processes that start together each have a document, report less often, and all are read', async () => {
  const all = Array.from({ length: 100 }, (_, i) => startProcess(`process-${i}`))
  for (let round = 0; round < 3; round++) {
    await Promise.all(all.map(({ group }) => group.tick()))
    skip(20 * SECOND_MS)
  }
  const owners = shared.of('processes/').map((text) => JSON.parse(text.split('\n', 1)[0] ?? '').header.id)
  expect(owners.toSorted()).toEqual(all.map((_, i) => `process-${i}`).toSorted())
  const before = shared.written.length
  await all[0]?.group.tick()
  skip(10 * SECOND_MS)
  await all[0]?.group.tick()
  expect(shared.written.slice(before).filter(({ key }) => key.includes('processes'))).toHaveLength(1)
  await all[0]?.group.refresh()
  expect(Object.values(all[0]?.states() ?? {})).toEqual(Array(99).fill('alive'))
})

test('100 processes that come and go leave no more documents than lived within an hour, and small ones', async () => {
  const { texts, events } = await visit(100)
  expect(texts.join('').length).toBeLessThan(100_000)
  expect(events).toHaveLength(201)
})
