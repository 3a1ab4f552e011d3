import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'

const MAX_MS = 30 * 60_000

test(
  'the periods of every time zone are those of an independent calendar',
  async () => {
    const args = ['--import', 'tsx', join(__dirname, 'main.ts')]
    const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: MAX_MS })
    console.info(stdout)
    expect(stdout).toMatch(/^4\d\d zones from 2020 to 2040/)
    expect(stdout).toMatch(/^[1-9]\d{3} clocks set forward, [1-9]\d{3} set back$/m)
    expect(stdout).toMatch(/^0 differences$/m)
  },
  MAX_MS,
)
