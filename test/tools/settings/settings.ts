import { join } from 'node:path'
import { type Bundle, bundle } from '../../support/servers/bundle.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { type Outcome, runSettings } from './run.js'

/** Defines the tests of a run with so many changes, with Redis frozen around one of so many. */
export function describeSettings(changes: number, freezeEvery: number): void {
  let program: Bundle | undefined
  let outcome: Outcome

  beforeAll(
    async () => {
      program = await bundle(join(__dirname, 'follower-child.ts'))
      outcome = await runSettings({ program: program.path, changes, freezeEvery, seed: 1 })
      console.info(outcome)
    },
    INSTALL_TIMEOUT_MS + changes * 10_000,
  )
  afterAll(() => program?.remove())

  test('the run has changed limits under load, with Redis frozen in between', () => {
    expect(outcome.changes).toBe(changes)
    expect(outcome.freezes).toBe(Math.floor(changes / freezeEvery))
    expect(outcome.admitted).toBeGreaterThan(changes)
  })

  test('every process follows within 2 s of a change, or of the thaw', () => {
    expect(outcome.late).toEqual([])
  })

  test('nothing is admitted beyond the larger one of two limits', () => {
    expect(outcome.exceeded).toEqual([])
  })

  test('concurrent changes lose nothing', () => {
    expect(outcome.failures).toEqual([])
    expect(outcome.marks).toBe(4 * Math.ceil(changes / 2)) // beside every second change
    expect(outcome.lost).toEqual([])
  })
}
