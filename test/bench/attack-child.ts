import assert from 'node:assert/strict'
import type { AttackRound, AttackSettings } from './attack.js'
import { ATTACKED, type AttackedName } from './contenders/attacked.js'
import { keyText, shuffledIndexes } from './contenders/keys.js'
import { answerQuestions } from './harness/child.js'
import { measure } from './harness/usage.js'

const [name = '', url = '', json = ''] = process.argv.slice(2)
const { clients, callers, limit, roundMs } = JSON.parse(json) as AttackSettings
process.once('disconnect', () => process.exit()) // an open connection would keep it running

const decide = ATTACKED[name as AttackedName](url, limit)
const draws = Array.from(shuffledIndexes(16 * clients), (i) => keyText(i % clients))
let drawn = 0

/** Callers that each request a decision once they have the last one, until the time is over. */
async function round(): Promise<AttackRound> {
  const used = measure()
  const endMs = performance.now() + roundMs
  let denied = 0
  const call = async () => {
    while (performance.now() < endMs) {
      const allowed = await decide(draws[drawn++ % draws.length] as string)
      assert.equal(allowed, false, 'a client over its limit was let through')
      denied++
    }
  }
  await Promise.all(Array.from({ length: callers }, call))
  return { ...used(), decisions: denied }
}

/** Brings all clients to their limits. */
async function fill(): Promise<AttackRound> {
  for (let taken = 0; taken < limit; taken++) {
    await Promise.all(
      Array.from({ length: clients }, async (_, i) => assert.equal(await decide(keyText(i)), true)),
    )
  }
  return await round()
}

answerQuestions((question: { readonly do: 'fill' | 'round' }) => (question.do === 'fill' ? fill() : round()))
