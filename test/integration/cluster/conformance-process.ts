/**
 * Runs the tests of the store contract in a worker or a child, and sends their results. Arguments: who owns the
 * counts, and which tests.
 */
import { clusterStore } from 'headgate/cluster'
import { storeConformance } from 'headgate/testing'
import { runCases } from '../../support/run-cases.js'
import { sampleOf } from '../../support/store-conformance.js'

/** What a test needs from the owner, which replies `done`: a new store with its own clock, or that its clock advances. */
export type OwnerOrder = { readonly open: string } | { readonly advanceMs: number }

const [owner, extent] = process.argv.slice(2)
let stores = 0

function order(message: OwnerOrder): Promise<void> {
  return new Promise((resolve) => {
    process.on('message', function listen(reply) {
      if (reply !== 'done') return // it is one of headgate's
      process.off('message', listen)
      resolve()
    })
    process.send?.(message)
  })
}

const cases = storeConformance({
  async makeStore() {
    const name = `store-${process.pid}-${++stores}`
    await order({ open: name })
    const store = clusterStore({ name, owner: owner as 'primary' | 'parent' })
    return { store, advance: (advanceMs) => order({ advanceMs }) }
  },
  capabilities: { settableClock: true, anyKey: true, atomicAcrossKeys: true },
})
process.send?.(await runCases(extent === 'all' ? cases : sampleOf(cases)))
process.disconnect()
