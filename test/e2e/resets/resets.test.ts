import { NODES } from '../package/nodes.js'
import { describeResets } from './outcomes.js'

describeResets(NODES)
