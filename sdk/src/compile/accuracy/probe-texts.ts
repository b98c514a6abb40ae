/** Texts of all kinds: short, long, ordinary and unusual. Written for this package. */
export const variedTexts: readonly string[] = [
  "The river froze before the first snow came.",
  "a",
  "?!",
  "How do I return a pair of shoes I bought last week?",
  "To return an item, open your orders, choose the pair, and print the label we send you.",
  "Invoice 2024-00731, due 14 March: 1,299.00 EUR net, 19 % VAT.",
  "SELECT name, count(*) FROM visits GROUP BY name HAVING count(*) > 3;",
  "const total = items.reduce((sum, item) => sum + item.price, 0);",
  "Das Wörterbuch liegt auf dem Küchentisch neben dem Fenster.",
  "El tren de las ocho llegó con veinte minutos de retraso.",
  "私は毎朝コーヒーを飲みます。",
  "Не забудьте закрыть окно перед уходом.",
  "🎉🚀 shipped!!! see you @ 5pm 👋",
  "https://example.org/a/very/long/path?with=parameters&and=more#fragment",
  "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
  "   leading,   trailing and   repeated   spaces   ",
  "Patients with a fever above 39 degrees were given 500 mg of paracetamol every six hours and seen again after two days.",
  "He said nothing, put the letter back into its envelope, and walked out into the rain without his coat.",
  "Photosynthesis turns carbon dioxide and water into sugar and oxygen with the energy of light; in most plants it happens in the chloroplasts of the leaves, which is why leaves are thin, flat and green.",
  "The committee met on Tuesday. It approved the minutes of the last meeting, heard the treasurer's report, and agreed to repair the roof before winter. Two members asked that the cost be shared with the tenants; the chair promised to find out whether the lease allows it. The next meeting is on the first Tuesday of the month after next, at seven in the evening, in the small hall, because the large one is let to the choir.",
  "Slice the onions thinly and cook them in butter over a low heat for forty minutes, stirring now and then, until they are soft and brown. Add the flour, stir for two minutes, pour in the stock and the wine, and bring it to the boil. Turn the heat down, cover the pot, and let the soup cook gently for half an hour. Toast the bread, put a slice into every bowl, ladle the soup over it, and cover it with grated cheese. Put the bowls under a hot grill until the cheese has melted and begun to brown, and serve at once, with a warning that the bowls are hot. Leftover soup keeps for three days in the refrigerator and is, many people say, better on the second day than on the first; it can also be frozen, though not with the bread in it.",
];

/**
 * Short everyday texts, like those of most requests. The vector of a short text averages the errors of only a few tokens. The mean over
 * these texts therefore shows a loss that long and unusual texts hide.
 */
const shortTexts: readonly string[] = [
  "A man is playing the piano.",
  "A woman is peeling a carrot.",
  "A boy is kicking a ball.",
  "A dog is running on the beach.",
  "A cat is asleep on a chair.",
  "Someone is slicing a loaf of bread.",
  "Two girls are riding their bicycles.",
  "A person is washing the dishes.",
  "The children are singing a song.",
  "A man is climbing a ladder.",
  "A woman is writing a letter.",
  "The baker opens his shop at five.",
  "A small plane is landing on a field.",
  "An old man feeds pigeons in the park.",
  "The goalkeeper catches the ball.",
  "A horse jumps over a fence.",
  "Snow is falling on the village.",
  "He is listening to the radio.",
  "The train was cancelled because of a strike.",
  "Shares of the carmaker fell on Monday.",
  "Police arrested two men after a robbery.",
  "The minister will meet trade unions.",
  "A bridge collapsed in the north.",
  "The company expects higher profits.",
  "The court rejected the appeal.",
  "An earthquake shook the island.",
  "Ask your doctor before you take it.",
  "It depends on how much time you have.",
  "how to clean a wooden floor",
  "oldest university in europe",
  "is this cheese still safe to eat",
  "boil an egg",
  "cheap flights to lisbon",
  "opening hours on sunday",
  "reset my password",
  "The hotel was clean, but breakfast was poor.",
  "I would not buy this phone again.",
  "The food was cold and nobody apologised.",
  "We loved every minute of the concert.",
  "My parcel has still not arrived.",
];

/** Texts on which every prepared model is compared. */
export const probeTexts: readonly string[] = [...variedTexts, ...shortTexts];

/** Texts of more than 256 tokens each. Models are compared on beginnings of these texts, too. Written for this package. */
export const longTexts: readonly string[] = [
  "The harbour lies on the northern side of the bay, where the water is deep enough for large ships even at low tide. " +
    "Until the railway came, everything that the town needed arrived here: coal and timber, tea and salt, letters from " +
    "relatives who had moved away and the newspapers of the week before. The customs house, which is a museum today, had a " +
    "clock on each of its four sides, because captains paid by the hour and did not trust a single one. When the new road " +
    "was opened, the large firms left within ten years. What remained were the fishermen, a yard that repairs sailing boats, " +
    "and a ferry to the islands that runs four times a day in summer and once a week in winter. For a while nobody knew what " +
    "should become of the warehouses. Two burned down, one became a school of music, and in the others people have built " +
    "flats with high ceilings and thick walls, in which it never gets quite warm. On Saturdays there is a market on the " +
    "quay. You can buy bread and cheese there, vegetables from the farms behind the hill, and smoked fish, which visitors " +
    "carry home in newspaper as their grandparents did. In the evening, when the stalls are taken down and the gulls have " +
    "carried away what was left, old men sit on the steps below the lighthouse and argue about the weather, the council and " +
    "the price of diesel, until the lamps are lit and the last ferry sounds its horn.",
  "We studied whether a short daily walk lowers blood pressure in adults who sit for most of their working day. Between " +
    "March 2021 and June 2022, 412 employees of nine companies were assigned at random to one of two groups. The first group " +
    "walked for twenty minutes before lunch on every working day; the second group kept its habits and was offered the same " +
    "programme a year later. Blood pressure was measured at the start, after 6 weeks and after 24 weeks, by nurses who did " +
    "not know the groups. At the start, the mean systolic pressure was 134 mmHg in both groups. After 24 weeks it had fallen " +
    "by 6.1 mmHg in the group that walked and by 1.4 mmHg in the other one (difference 4.7 mmHg, 95 % confidence interval " +
    "2.9 to 6.5). The effect was larger in participants with higher values at the start, and did not depend on age, sex or " +
    "weight. Resting pulse and waist circumference changed little. Of the participants who walked, 81 % were still doing so " +
    "at the end of the study, most of them with colleagues. Three sprained an ankle; no other harm was reported. Our results " +
    "have limits: the companies had agreed to give their staff the time, the study was too short to count heart attacks or " +
    "strokes, and nobody measured what people ate. Even so, a walk that costs nothing and needs no equipment lowered blood " +
    "pressure by about half as much as a common drug does. Larger studies should find out whether the effect lasts.",
  "Before you open the housing, switch the pump off, pull the plug and wait for five minutes: the capacitor keeps its charge " +
    "for some time, and a shock can kill. Loosen the four screws on the front with a 4 mm hex key and lift the cover straight " +
    "up. Behind it you see the filter, the motor and a small board with three lights. If the green light is on, although the " +
    "plug is out, stop here and call the service. Turn the filter to the left by a quarter and pull it out. Rinse it under " +
    "warm water, without soap, until the water runs clear; a filter that stays grey, or that has a crack, must be replaced " +
    "(part 7731-B). Wipe the seal with a dry cloth. Do not grease it, because grease makes the rubber swell, and the pump " +
    "then draws air. Now look at the wheel behind the filter. It should turn freely with one finger. If it does not, remove " +
    "hair and threads with tweezers, never with a knife. Put everything back in the opposite order: filter, quarter turn to " +
    "the right until it clicks, cover, four screws. Tighten the screws crosswise and only by hand. Plug the pump in and " +
    "switch it on. The yellow light blinks three times while it fills; after about a minute, the green one should be on. If " +
    "the red light comes on instead, there is still air in the hose: switch off, raise the hose above the level of the tank, " +
    "and try again. After two attempts without success, note the number on the board and write to us.",
];
