/** A test's title, and what it does. */
export type Case = readonly [title: string, run: () => Promise<unknown>]

/**
 * Tests that mostly wait, run side by side: a hook runs them all, `atOnce` at a time, and each test reports
 * its own outcome. `test.concurrent` does not serve: once one of its tests has ended, the others can load no
 * module (jest 30.5), and drivers load some late.
 */
export function testTogether(cases: readonly Case[], { atOnce = 5, timeoutMs = 120_000 } = {}): void {
  const outcomes: { readonly error?: unknown }[] = []

  beforeAll(async () => {
    const left = cases.entries()
    async function work(): Promise<void> {
      for (const [i, [, run]] of left)
        outcomes[i] = await run().then(
          () => ({}),
          (error: unknown) => ({ error }),
        )
    }
    await Promise.all(Array.from({ length: atOnce }, work))
  }, timeoutMs)

  for (const [i, [title]] of cases.entries()) {
    test(title, () => {
      const outcome = outcomes[i]
      if (outcome === undefined) throw new Error(`${title} was not run.`)
      if ('error' in outcome) throw outcome.error
    })
  }
}
