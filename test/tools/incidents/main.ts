import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { launchChromium } from '../../support/servers/chromium.js'
import { INCIDENTS } from './incidents.js'
import { isGood, type Outcome, playIncident } from './run.js'

const HELP = `Plays incidents on four processes and Redis, and reads the dashboard in Chromium.

  npm run incidents -- [--only TEXT] [--pictures FOLDER]

      Prints for each how many seconds pass until the first sentence of the page says what, whom, since when
      and why, how many clicks solve it, and whether the page has counted what the generator has.
`

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    pictures: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})

async function main(): Promise<void> {
  if (values.help) {
    console.log(HELP)
    return
  }
  const browser = await launchChromium()
  try {
    for (const incident of INCIDENTS.filter(({ name }) => name.includes(values.only))) {
      const outcome = await playIncident(incident, {
        browser,
        program: fileURLToPath(new URL('./server-process.ts', import.meta.url)),
        async takePicture(page, name) {
          if (values.pictures !== undefined)
            await page.screenshot({ path: `${values.pictures}/${name.replaceAll(/[ ,]+/g, '-')}.png` })
        },
      })
      console.log(textOf(outcome))
      if (!isGood(outcome)) process.exitCode = 1
    }
  } finally {
    await browser.close()
  }
}

function textOf({ incident, seconds, sentence, clicks, isSolved, comparison }: Outcome): string {
  const said = seconds === undefined ? 'never said' : `said after ${seconds.toFixed(1)} s`
  const solved = isSolved ? `solved with ${clicks} clicks` : 'not solved'
  const { counted = [], shown = [] } = comparison ?? {}
  const counts = counted.length === 0 ? '' : `, counted ${counted.join(' + ')}, shown ${shown.join(' + ')}`
  return `${incident}: ${said}, ${solved}${counts}\n  ${sentence}`
}

main()
