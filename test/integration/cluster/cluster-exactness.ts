import { fork } from 'node:child_process'
import cluster from 'node:cluster'
import { join } from 'node:path'
import { clusterStore, serveChild } from 'headgate/cluster'
import { type Bundle, bundle } from '../../support/servers/bundle.js'
import type { Extent } from '../../support/store-conformance.js'
import { describeStoreExactness } from '../../support/store-exactness.js'

/** Defines the tests that the workers of this process, and children that it has forked, are exact together. */
export function describeClusterExactness(extent: Extent): void {
  let program: Bundle

  beforeAll(async () => {
    program = await bundle(join(__dirname, 'store-process.ts'))
    clusterStore()
  })

  afterAll(() => program?.remove())

  /** Starts a worker of this process, which is the primary. */
  function startWorker() {
    cluster.setupPrimary({ exec: program.path, args: ['primary'], execArgv: [], silent: true })
    return cluster.fork().process
  }

  describe('workers of node:cluster', () => {
    describeStoreExactness({ startProcess: startWorker, capabilities: { atomicAcrossKeys: true } }, extent)
  })

  describe('children that this process has forked', () => {
    const startProcess = () => serveChild(fork(program.path, ['parent'], { execArgv: [], silent: true }))
    const isChosen = (name: string) => extent === 'all' || name.includes('one key') // they differ in the channel
    describeStoreExactness({ startProcess, capabilities: { atomicAcrossKeys: true } }, extent, isChosen)
  })
}
