import { type Bundle, bundle } from '../../support/servers/bundle.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { APP, type Choice } from './app.js'
import { brokenBounds } from './bounds.js'
import { cutInMidAnswer, freezeFault, killFault, refusedAtStart } from './common-faults.js'
import { memcached } from './memcached-scenes.js'
import { redis } from './redis-scenes.js'
import { head, row } from './row.js'
import { runUndisturbed } from './run-undisturbed.js'
import { mariadb, postgres } from './sql-scenes.js'
import type { Fault, Scene, Stage } from './stage.js'

const CALM_MS = 400
const RUN_TIMEOUT_MS = 60_000

/** How often each store forgets what it has counted when it is killed. */
export const STORES: readonly (readonly [string, Scene, number])[] = [
  ['redis', redis, 1],
  ['memcached', memcached, 1],
  ['mariadb', mariadb, 0],
  ['postgres', postgres, 0],
]

/** The faults of a store, and what becomes of requests meanwhile. */
export function faultsOf(name: string, losses: number): readonly (readonly [Fault, Choice])[] {
  return [
    [killFault(losses, 1000), 'local'],
    [freezeFault(1500), 'deny'],
    [cutInMidAnswer, 'allow'],
    ...(name === 'redis' ? [[refusedAtStart, 'function'] as const] : []),
  ]
}

/** Defines a test for each fault of a store. */
export function describeFaults(name: string, scene: Scene, faults: ReturnType<typeof faultsOf>): void {
  describe(`an application on ${name} with 200 concurrent requests`, () => {
    let bundled: Bundle
    let stage: Stage

    beforeAll(async () => {
      bundled = await bundle(APP)
      stage = await scene.start()
    }, INSTALL_TIMEOUT_MS)

    afterAll(async () => {
      await stage?.stop()
      await bundled?.remove()
    })

    test.each(faults.map(([fault, choice]) => [fault.name, choice, fault] as const))(
      'keeps all bounds while the store is %s, with onStoreError: %s',
      async (_name, choice, fault) => {
        const outcome = await runUndisturbed(stage, fault, choice, {
          calmMs: CALM_MS,
          bundled,
          forgives: true,
        })
        const broken = brokenBounds(outcome, outcome.app.heldUpMs)
        if (broken.length > 0) broken.push(head(), row(name, outcome)) // how it was
        expect(broken).toEqual([])
      },
      RUN_TIMEOUT_MS,
    )
  })
}
