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
const STORES: readonly (readonly [string, Scene, number])[] = [
  ['redis', redis, 1],
  ['memcached', memcached, 1],
  ['mariadb', mariadb, 0],
  ['postgres', postgres, 0],
]

let bundled: Bundle

beforeAll(async () => {
  bundled = await bundle(APP)
})

afterAll(() => bundled?.remove())

describe.each(STORES)('an application on %s with 200 concurrent requests', (name, scene, losses) => {
  const faults: readonly (readonly [Fault, Choice])[] = [
    [killFault(losses, 1000), 'local'],
    [freezeFault(1500), 'deny'],
    [cutInMidAnswer, 'allow'],
    ...(name === 'redis' ? [[refusedAtStart, 'function'] as const] : []),
  ]
  let stage: Stage

  beforeAll(async () => {
    stage = await scene.start()
  }, INSTALL_TIMEOUT_MS)

  afterAll(() => stage?.stop())

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
