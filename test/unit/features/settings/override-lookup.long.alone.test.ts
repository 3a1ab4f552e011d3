import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { bundle } from '../../../support/servers/bundle.js'

const MOST_NS = 200

test('a lookup among 10,000 overrides takes at most 0.2 µs', async () => {
  const program = await bundle(join(__dirname, 'lookup-child.ts'))
  try {
    const figures: Record<string, number> = JSON.parse(execFileSync('node', [program.path]).toString())
    expect(Object.keys(figures)).toHaveLength(5)
    console.info('nanoseconds of a lookup', figures)
    expect(Object.entries(figures).filter(([, ns]) => ns > MOST_NS)).toEqual([])
  } finally {
    await program.remove()
  }
})
