// Records docs/pictures/lane-light.webp and lane-dark.webp: one lane of the demo, as it runs. The traffic
// repeats every four seconds, and so does the animation, so that its end meets its beginning.
import { writeFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import sharp from 'sharp'
import { launchChromium, startProgram } from './program.mjs'

const LENGTH_MS = 8000 // two bursts
const FRAME_MS = 100
const MAX_BYTES = 1_000_000 // of each: the README loads one
const FILLED_MS = 31_000 // the strip shows half a minute
/** Leaves one lane, its axis and its legend. */
const STYLE = `
  .lane:not([data-lane=token-bucket]), .key-border { display: none !important }
  .lanes-card { width: 800px }
`

process.chdir(fileURLToPath(new URL('..', import.meta.url)))
const { url, stop } = await startProgram('examples/demo/main.ts')
const browser = await launchChromium()
try {
  for (const look of ['light', 'dark']) await record(look) // in turn: both count as one client
} finally {
  await browser.close()
  stop()
}

async function record(colorScheme) {
  const page = await browser.newPage({
    viewport: { width: 1440, height: 900 },
    colorScheme,
    bypassCSP: true,
    deviceScaleFactor: 2,
  })
  await page.goto(url)
  await page.addStyleTag({ content: STYLE })
  await pause(FILLED_MS)
  const frames = await framesOf(page.locator('.lanes-card'))
  await page.close()
  const webp = await sharp(frames, { join: { animated: true } })
    .webp({ lossless: true, effort: 6, delay: frames.map(() => FRAME_MS), loop: 0 })
    .toBuffer()
  if (webp.length > MAX_BYTES) throw new Error(`lane-${colorScheme}.webp has ${webp.length} bytes`)
  writeFileSync(`docs/pictures/lane-${colorScheme}.webp`, webp)
}

/** Takes a picture whenever one is due. One that is late is taken at once, and the next one is on time. */
async function framesOf(lane) {
  const startedAt = performance.now()
  const frames = []
  for (let at = 0; at < LENGTH_MS; at += FRAME_MS) {
    await pause(Math.max(0, startedAt + at - performance.now()))
    frames.push(await lane.screenshot())
  }
  return frames
}
