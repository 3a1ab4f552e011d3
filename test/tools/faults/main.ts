import type { Choice } from './app.js'
import { brokenBounds } from './bounds.js'
import { printInFlight } from './in-flight-table.js'
import { head, row } from './row.js'
import { runUndisturbed } from './run-undisturbed.js'
import { SCENES } from './scenes.js'
import type { Fault, Scene, Stage } from './stage.js'

const CHOICES: readonly Choice[] = ['allow', 'deny', 'local']
/** Where a function is tried as well, unless one is named. */
const WITH_FUNCTION = ['killed', 'refused at start']

interface Wanted {
  readonly store?: string | undefined
  readonly fault?: string | undefined
  readonly choice?: string | undefined
}

/** Runs all faults, or those that are named, and prints a row for each. True where all bounds were kept. */
async function main({ store, fault, choice }: Wanted): Promise<boolean> {
  const scenes = SCENES.filter((each) => store === undefined || each.store === store)
    .map((each) => ({
      ...each,
      faults: each.faults.filter(({ name }) => fault === undefined || name === fault),
    }))
    .filter(({ faults }) => faults.length > 0)
  if (scenes.length === 0) throw new Error(`There is no such fault: ${store} ${fault}.`)
  console.log(head())
  let isFine = true
  for (const scene of scenes) isFine = (await playScene(scene, choice)) && isFine
  return isFine
}

async function playScene(scene: Scene, choice: string | undefined): Promise<boolean> {
  let isFine = true
  let stage: Stage | undefined
  try {
    for (const fault of scene.faults) {
      for (const each of choicesFor(fault, choice)) {
        stage ??= await scene.start()
        isFine = (await playOne(scene, stage, fault, each)) && isFine
        if (stage.isUsedUp) {
          await stage.stop()
          stage = undefined
        }
      }
    }
  } finally {
    await stage?.stop()
  }
  return isFine
}

function choicesFor({ name }: Fault, choice: string | undefined): readonly Choice[] {
  if (choice !== undefined) return [choice as Choice]
  return WITH_FUNCTION.includes(name) ? [...CHOICES, 'function'] : CHOICES
}

async function playOne({ store }: Scene, stage: Stage, fault: Fault, choice: Choice): Promise<boolean> {
  const outcome = await runUndisturbed(stage, fault, choice)
  console.log(row(store, outcome))
  const broken = brokenBounds(outcome)
  for (const each of broken) console.log(`  BROKEN: ${each}`)
  return broken.length === 0
}

/** `all` names none; `in-flight` has processes share a `concurrency` limit on a Redis with faults. */
const [store, fault, choice] = process.argv.slice(2).map((word) => (word === 'all' ? undefined : word))
const run = store === 'in-flight' ? printInFlight() : main({ store, fault, choice })
run.then(
  (isFine) => process.exit(isFine ? 0 : 1), // whatever a client of a server that failed may still hold
  (error: unknown) => {
    console.error(error)
    process.exit(1)
  },
)
