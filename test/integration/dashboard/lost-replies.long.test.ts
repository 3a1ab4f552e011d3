import { describeLostReplies } from './lost-replies.js'

describeLostReplies(12)
