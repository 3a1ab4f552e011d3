import { answerQuestions } from '../../bench/harness/child.js'
import { type Order, POLICIES } from '../redis/exactness-child.js'
import { openInChild } from './open-in-child.js'

/** What came of the charges of one process. */
export interface Counts {
  allowed: number
  denied: number
}

const { store } = openInChild()

/** One process of several: runs so many callers, each charging as fast as it can. What fails ends it. */
answerQuestions(async ({ parts, callers, each }: Order): Promise<Counts> => {
  const charge = parts.map(({ key, policy, limit }) => ({ key, policy: POLICIES[policy](limit), cost: 1 }))
  const counts = { allowed: 0, denied: 0 }
  const call = async () => {
    for (let i = 0; i < each; i++) {
      const [verdict] = await store.charge([charge])
      counts[verdict?.allowed ? 'allowed' : 'denied']++
    }
  }
  await Promise.all(Array.from({ length: callers }, call))
  return counts
})
