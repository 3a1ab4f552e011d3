import { measureCost } from './cost.js'
import { takePictures, takeStates } from './pictures.js'
import { figuresOf } from './scene.js'
import { SCENES } from './scenes.js'
import { servePage } from './serve.js'

/**
 * Shows the dashboard in states that are hard to reach otherwise.
 *
 *     npx tsx test/tools/dashboard-scenes/main.ts serve [SCENE]    serves a scene on PORT, or on a free port
 *     npx tsx test/tools/dashboard-scenes/main.ts pictures FOLDER [SCENE…]
 *     npx tsx test/tools/dashboard-scenes/main.ts states FOLDER [STATE…]    dialogs, trials, conflicts
 *     npx tsx test/tools/dashboard-scenes/main.ts cost             what a busy page costs, in server and browser
 */
async function main([command = 'serve', ...args]: readonly string[]): Promise<void> {
  if (command === 'serve') return serve(args[0] ?? 'incident')
  if (command === 'pictures') return takePictures(args[0] ?? '.', args.slice(1))
  if (command === 'states') return takeStates(args[0] ?? '.', args.slice(1))
  if (command === 'cost') return measureCost()
  throw new Error(`Unknown command ${JSON.stringify(command)}. Use serve, pictures, states or cost.`)
}

async function serve(name: string): Promise<void> {
  const make = SCENES[name]
  if (make === undefined) throw new Error(`Unknown scene. Use one of ${Object.keys(SCENES).join(', ')}.`)
  const { url } = await servePage(figuresOf(make), { operator: 'ines' }, Number(process.env.PORT ?? 0))
  console.log(`${name} at ${url}. Ctrl-C stops it.`)
}

await main(process.argv.slice(2))
