import { DENIALS, type DenialName } from './contenders/denials.js'
import { serveForParent } from './harness/server-child.js'

const [name = ''] = process.argv.slice(2)
serveForParent(DENIALS[name as DenialName]())
