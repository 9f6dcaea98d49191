"""Sentences of agents with a place for a thing, `X`: those that ask for it, and those that speak of it otherwise.

In `FOREIGN` the noun of a thing, `N`, is somebody else's. The user learns from them, with things of many domains in
them.
"""

from __future__ import annotations

ASKS = """\
Please tell me X.|Could you give me X, please?|I need X to go on.|What is X?|May I have X?|Can you confirm X for me?|
Thanks! And X?|I'll need X before I can do that.|Would you mind telling me X?|Kindly provide X.|Let me know X.|
I just need X.|To proceed, I require X.|First, X please.|Do you happen to have X at hand?|I'm going to need X.|
Send me X and I will have a look.|Once you give me X, I can go on.|Before we go on: X?|Might I ask for X?|
I didn't catch X.|Remind me of X, please.|We'll also need X.|Whenever you're ready, share X.|All I need now is X.|
The only thing missing is X.|I'd like to know X.|I still don't have X.|Tell me X and we're set.|
It would help to know X.|What would X be?|Mind sharing X?|Could I trouble you for X?|Go ahead and give me X.|
Please reply with X.|For my records, what's X?|Do you remember X?|I'm sorry, I have to ask you for X.|
Happy to help. X, please.|Could you spell out X?|Can I get X?|Would you be so kind as to give me X?|
I can't go on without X. What is it?|How about X?|Then all I need is X.|So that I can help, what is X?|
We require X.|Please state X.|X pls""".replace("\n", "").split("|")
OTHERS = """\
Thank you, I have X now.|I don't need X.|Shall I change X?|I will check X now.|I see X in the file.|
Would you like to change X?|Do you want me to update X?|I can't change X.|I've noted X.|Please keep X to yourself.|
You can find X in the letter that we sent.|If X changes, let me know.|I already have X, thank you.|
I'll send a code to X.|Don't share X with anybody.|I've confirmed X.|You told me X already.|Are you happy with X?|
Did you know that X can be changed online?|What would you like to do with X?|Why do you want to change X?|
I need to change X first.|Please wait while I look up X.|What is wrong with X?|How often do you use X?|
When did you last change X?|Should I keep X?|The system asks for X only once.|Can you change X yourself online?|
May I update X?|We never ask for X.|What happens to X?|Where did you find X?|Who gave you X?|Want me to change X?|
I'd like to change X for you, is that all right?|I've found you by X.|Let me look up X.|I don't have access to X.|
I can tell you X if you like.|Do you need me to send you X?|Have you changed X recently?|I was able to verify X.|
I'm afraid X is not valid.|X does not match our records.|X is correct.|X has been updated.|Is X still the same?|
X cannot be changed today.|X will be updated tomorrow.|Has X changed?|You don't have to tell me X.|
There is no need for X.|Never mind X.|It works without X.|I need to check X with my supervisor.|
Please hold on, I need to verify X.|Anything else about X?|Do you have any questions about X?|
Are there any problems with X?|Let me know if X changes.|Please tell me if X is wrong.|
I'll need a moment to look up X.|Could you wait while I check X?|Can I help you with X?|
I can look for X, if you want.|Once X is updated, I'll let you know.|What do you think of X?|
How did you get X?""".replace("\n", "").split("|")
FOREIGN = """\
your friend's N|the N of your neighbour|the manager's N|the N of our warehouse|the courier's N|your bank's N|
your passport N|your wife's N|the N printed on your receipt|your emergency N|the tracking N|my N|our N|his N|
the N of the person who called|your landlord's N|the N for the parcel|the supervisor's N""".replace("\n", "").split("|")


def within(frame: str, thing: str) -> str:
    """A sentence that speaks of a thing."""
    text = frame.replace("X", thing)
    return text[0].upper() + text[1:]


def foreign(owner: str, thing: str) -> str:
    """Something like a thing that is somebody else's."""
    return owner.replace("N", thing.removeprefix("your ").removeprefix("the "))
