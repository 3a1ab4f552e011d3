import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { dumpMemory, memoryStore, restoreMemory } from 'headgate'
import type { ChargeResult } from 'headgate/store'
import { keyText } from './contenders/keys.js'
import { CONTENDERS, type Contender, LIMIT } from './contenders/restarts.js'
import { answerQuestions } from './harness/child.js'
import { collectGarbage, measure, type Usage } from './harness/usage.js'

const CHECKED_KEYS = 1000

/**
 * The parent's questions: a store with all keys in it, what its dump takes, and what the next process takes to
 * restore it. The dump is in a file meanwhile.
 */
export type Question = { readonly do: 'fill' } | { readonly do: 'dump' | 'restore'; readonly file: string }

export interface Dumped extends Usage {
  readonly bytes: number
}

const [name = '', keyCount = ''] = process.argv.slice(2)
const policies = CONTENDERS[name as Contender]
const keys = Number(keyCount)
const clients = keys / policies.length
const store = memoryStore({ maxKeys: keys })

/** Charges a client once. Returns whether it was allowed. */
function charge(client: number): boolean {
  const text = keyText(client)
  const parts = policies.map((policy, i) => ({ key: `hg:${i}:{${text}}`, policy, cost: 1 }))
  return (store.apply([{ type: 'charge', parts }])[0] as ChargeResult).allowed
}

function fill(): void {
  for (let i = 0; i < clients; i++) assert.ok(charge(i), `${name}: a fresh key was denied`)
  assert.equal(store.size, keys)
  collectGarbage()
}

function dump(file: string): Dumped {
  const usage = measure()
  const bytes = dumpMemory(store)
  const used = usage()
  writeFileSync(file, bytes)
  assert.equal(charge(0), false, `${name}: a charge after the dump was allowed`)
  return { ...used, bytes: bytes.length }
}

function restore(file: string): Usage {
  const bytes = readFileSync(file)
  const usage = measure()
  restoreMemory(store, bytes)
  const used = usage()
  check()
  return used
}

/** That all keys are there, and that clients are allowed exactly what the process before left them. */
function check(): void {
  assert.equal(store.size, keys, `${name}: keys were lost`)
  let [sent, allowed, denied] = [0, 0, 0]
  for (let i = 0; i < CHECKED_KEYS; i++) {
    const client = Math.floor((i * clients) / CHECKED_KEYS)
    for (let each = 0; each < 2 * LIMIT; each++, sent++) {
      if (charge(client)) allowed++
      else denied++
    }
  }
  assert.equal(allowed + denied, sent)
  assert.equal(allowed, (LIMIT - 1) * CHECKED_KEYS, `${name}: the limit was not kept over the restart`)
}

answerQuestions((question: Question) => {
  if (question.do === 'fill') return fill()
  return question.do === 'dump' ? dump(question.file) : restore(question.file)
})
