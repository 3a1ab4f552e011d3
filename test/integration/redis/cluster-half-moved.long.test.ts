import { describeHalfMoved } from './cluster-half-moved.js'

describeHalfMoved('ioredis 6')
