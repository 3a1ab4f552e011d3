import { REFUSERS, type RefuserName } from './contenders/refusers.js'
import { serveForParent } from './harness/server-child.js'

const [name = ''] = process.argv.slice(2)
serveForParent(REFUSERS[name as RefuserName]())
