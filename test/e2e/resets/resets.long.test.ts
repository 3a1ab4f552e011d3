import { NODES, PROMISED } from '../package/nodes.js'
import { describeResets } from './outcomes.js'

describeResets(PROMISED.filter((major) => !NODES.includes(major)))
