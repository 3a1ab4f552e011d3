import { type ChildProcess, fork } from 'node:child_process'
import cluster from 'node:cluster'
import { once } from 'node:events'
import { join } from 'node:path'
import { clusterStore, serveChild } from 'headgate/cluster'
import { manualClock } from 'headgate/testing'
import type { CaseResults } from '../../support/run-cases.js'
import { type Bundle, bundle } from '../../support/servers/bundle.js'
import type { Extent } from '../../support/store-conformance.js'
import type { OwnerOrder } from './conformance-process.js'

/** The least tests that there are, so that a suite which lost some is noticed. */
const LEAST = { all: 390, sample: 80 } satisfies Record<Extent, number>

/** Defines the tests that the store keeps the contract in a worker of this process, and in a child that it has forked. */
export function describeClusterConformance(extent: Extent): void {
  let program: Bundle
  beforeAll(async () => {
    program = await bundle(join(__dirname, 'conformance-process.ts'))
  })
  afterAll(() => program?.remove())

  function startWorker(): ChildProcess {
    cluster.setupPrimary({ exec: program.path, args: ['primary', extent], execArgv: [] })
    return cluster.fork().process
  }
  const startChild = () => serveChild(fork(program.path, ['parent', extent], { execArgv: [] }))

  test.each([
    ['a worker of node:cluster', startWorker],
    ['a child that this process has forked', startChild],
  ])(
    'clusterStore keeps the store contract in %s',
    async (_, start) => {
      const { passed, failed } = await resultsOf(start())
      expect(failed).toEqual([])
      expect(passed).toBeGreaterThan(LEAST[extent])
    },
    120_000,
  )
}

/** Makes the stores that a process asks for, until it sends its results. */
async function resultsOf(child: ChildProcess): Promise<CaseResults> {
  let clock = manualClock()
  const exited = once(child, 'exit')
  const results = new Promise<CaseResults>((resolve, reject) => {
    child.on('message', (message: OwnerOrder | CaseResults | { readonly headgate: string }) => {
      if ('headgate' in message) return
      if ('passed' in message) return resolve(message)
      if ('open' in message) {
        clock = manualClock()
        clusterStore({ name: message.open, clock, maxKeys: 20_000 })
      } else clock.advance(message.advanceMs)
      child.send('done')
    })
    child.once('exit', (code) => reject(new Error(`the process ended with code ${code}`)))
  })
  await exited
  return results
}
